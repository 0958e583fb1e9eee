//! When what has changed is fetched and drawn: in every frame as long as that is quick, and more seldom once it takes
//! so long that neither the run nor whoever wants to stop it would get a turn. It measures no time and draws nothing
//! itself.

/// A frame that is longer is one in which the page had too much to draw.
const LONG_FRAME_MS: f64 = 40.0;
/// Of a large cluster no more is drawn than leaves as much time for all else: a drawing of this length, and a rest of
/// it.
const ROUND: f64 = 2.0;

/// What the root keeps about its own drawing.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Drawing {
    /// When what is shown was last fetched, and how long the page took over it with drawing.
    fetched_at: f64,
    took_ms: f64,
    /// The frame before this one drew, so that this one is as late as that made it.
    drew: bool,
    /// Something has changed since.
    unseen: bool,
}

impl Drawing {
    /// Takes in one frame: the moment it begins at, its length, and whether there is news since the one before. Returns
    /// whether to draw now; `at_once` is for what may not wait, as an end of play.
    pub(super) fn is_due(&mut self, now: f64, frame_ms: f64, changed: bool, at_once: bool) -> bool {
        if std::mem::take(&mut self.drew) {
            self.took_ms = frame_ms;
        }
        let rests = self.took_ms > LONG_FRAME_MS && now - self.fetched_at < ROUND * self.took_ms;
        self.unseen |= changed;
        let due = at_once || self.unseen && !rests;
        if due {
            (self.fetched_at, self.drew, self.unseen) = (now, true, false);
        }
        due
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Frames of one length until `until`, news in each of them; how many of them drew.
    fn drawn(drawing: &mut Drawing, frame_ms: f64, until: f64) -> usize {
        let mut now = 1_000.0;
        let mut count = 0;
        while now < 1_000.0 + until {
            count += usize::from(drawing.is_due(now, frame_ms, true, false));
            now += frame_ms;
        }
        count
    }

    #[test]
    fn quick_frames_all_draw_their_news() {
        assert_eq!(drawn(&mut Drawing::default(), 16.0, 1_600.0), 100);
    }

    #[test]
    fn nothing_new_is_not_drawn_again() {
        let mut drawing = Drawing::default();
        assert!(drawing.is_due(1_000.0, 16.0, true, false));
        assert!(!drawing.is_due(1_016.0, 16.0, false, false));
    }

    #[test]
    fn slow_drawing_leaves_as_much_time_to_the_run() {
        let mut drawing = Drawing::default();
        assert!(drawing.is_due(1_000.0, 16.0, true, false));
        // It took 100 ms: until 200 ms after it was begun, quick frames run and do not draw.
        assert!(!drawing.is_due(1_100.0, 100.0, true, false));
        assert!(!drawing.is_due(1_116.0, 16.0, false, false));
        assert!(!drawing.is_due(1_199.0, 16.0, false, false));
        // What changed meanwhile is drawn when the rest is over, though nothing is new in that frame.
        assert!(drawing.is_due(1_200.0, 16.0, false, false));
    }

    #[test]
    fn what_may_not_wait_is_drawn_in_the_rest_too() {
        let mut drawing = Drawing::default();
        assert!(drawing.is_due(1_000.0, 16.0, true, false));
        assert!(!drawing.is_due(1_100.0, 100.0, true, false));
        assert!(drawing.is_due(1_116.0, 16.0, false, true));
        assert!(!drawing.is_due(1_132.0, 16.0, false, false), "and nothing is left over to draw");
    }

    #[test]
    fn a_long_frame_that_drew_nothing_says_nothing_about_drawing() {
        let mut drawing = Drawing::default();
        assert!(drawing.is_due(1_000.0, 16.0, true, false));
        assert!(!drawing.is_due(1_016.0, 16.0, false, false));
        // The tab was elsewhere for a while.
        assert!(drawing.is_due(1_516.0, 500.0, true, false));
        assert!(drawing.is_due(1_532.0, 16.0, true, false));
    }
}
