//! What keys mean outside the stage. Knows no component; it turns a key into a wish.
use super::context::{Ask, Dialog};
use highwater_studio::desk::command::Command;
use highwater_studio::view::model::{Pace, Playback, Speed, StepKind};

/// A key that was pressed where nothing else has a use for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Key<'a> {
    pub key: &'a str,
    pub shift: bool,
    /// The focus is on something that Enter or space works.
    pub on_control: bool,
    /// Keys of a single character may act.
    pub single: bool,
}

/// What the key asks for.
pub fn wish(k: Key<'_>, playback: &Playback) -> Option<Ask> {
    let act = |c: Command| Some(Ask::Do(c));
    match (k.key, k.shift) {
        (" ", _) if !k.on_control => act(if playback.playing { Command::Pause } else { Command::Play }),
        ("Escape", _) if playback.travel.is_some() => act(Command::Pause),
        ("ArrowLeft", true) => act(Command::StepBack(StepKind::Notable)),
        ("ArrowRight", true) => act(Command::StepForward(StepKind::Notable)),
        ("ArrowLeft", false) => act(Command::StepBack(playback.step)),
        ("ArrowRight", false) => act(Command::StepForward(playback.step)),
        ("Home", false) => act(Command::ToStart),
        ("End", false) => act(Command::ToEnd),
        (",", _) if k.single => act(Command::StepBack(StepKind::Event)),
        (".", _) if k.single => act(Command::StepForward(StepKind::Event)),
        ("[", _) if k.single => act(Command::SetPace(slower(playback.pace))),
        ("]", _) if k.single => act(Command::SetPace(faster(playback.pace))),
        ("g", false) if k.single => Some(Ask::ToStage),
        ("n", false) if k.single => Some(Ask::WalkMessages { forward: true }),
        ("N", _) | ("n", true) if k.single => Some(Ask::WalkMessages { forward: false }),
        ("1" | "2" | "3" | "4", false) if k.single => k.key.parse::<usize>().ok().map(|choice| Ask::Guess(choice - 1)),
        ("Escape", _) => Some(Ask::CloseChosen),
        ("?", _) if k.single => Some(Ask::OpenDialog(Dialog::Keys)),
        // A key without a meaning here is left to the browser.
        _ => None,
    }
}

fn index(p: Pace) -> Option<usize> {
    match p {
        Pace::Automatic => None,
        Pace::Fixed(s) => Speed::SCALE.iter().position(|x| *x == s),
    }
}

/// Real time, from which the automatic pace is left in either direction.
const REAL_TIME: usize = 6;

fn slower(p: Pace) -> Pace {
    Pace::Fixed(Speed::SCALE[index(p).unwrap_or(REAL_TIME + 1).saturating_sub(1)])
}

fn faster(p: Pace) -> Pace {
    Pace::Fixed(Speed::SCALE[(index(p).unwrap_or(REAL_TIME - 1) + 1).min(Speed::SCALE.len() - 1)])
}

#[cfg(test)]
mod tests {
    use super::*;
    use highwater_studio::view::model::Travel;

    fn playback(pace: Pace) -> Playback {
        Playback {
            at_us: 0,
            end_us: 1,
            recorded_us: 0,
            playing: false,
            pace,
            step: StepKind::Message,
            awaiting: None,
            at_start: true,
            can_skip: true,
            events_done: 0,
            caption: None,
            ended: None,
            reached: None,
            can_undo: true,
            travel: None,
        }
    }

    fn pressed(key: &str, shift: bool) -> Key<'_> {
        Key { key, shift, on_control: false, single: true }
    }

    #[test]
    fn keys_mean_what_the_overlay_says() {
        let p = playback(Pace::Automatic);
        let wishes = [
            (pressed(" ", false), Some(Command::Play)),
            (pressed("ArrowRight", false), Some(Command::StepForward(StepKind::Message))),
            (pressed("ArrowRight", true), Some(Command::StepForward(StepKind::Notable))),
            (pressed(".", false), Some(Command::StepForward(StepKind::Event))),
            (pressed("]", false), Some(Command::SetPace(Pace::Fixed(Speed::new(1, 1))))),
            (pressed("x", false), None),
        ];
        for (key, expected) in wishes {
            assert_eq!(wish(key, &p), expected.map(Ask::Do), "{key:?}");
        }
    }

    #[test]
    fn one_key_leads_to_the_stage() {
        assert_eq!(wish(pressed("g", false), &playback(Pace::Automatic)), Some(Ask::ToStage));
    }

    #[test]
    fn escape_ends_a_way_first_and_then_leaves_what_is_chosen() {
        let mut p = playback(Pace::Automatic);
        assert_eq!(wish(pressed("Escape", false), &p), Some(Ask::CloseChosen));
        p.travel = Some(Travel { from_us: 0, to_us: 3_600_000_000 });
        assert_eq!(wish(pressed("Escape", false), &p), Some(Ask::Do(Command::Pause)));
    }

    #[test]
    fn space_on_a_button_is_the_buttons() {
        let key = Key { on_control: true, ..pressed(" ", false) };
        assert_eq!(wish(key, &playback(Pace::Automatic)), None);
    }

    #[test]
    fn keys_of_one_character_can_be_turned_off() {
        let key = Key { single: false, ..pressed(".", false) };
        assert_eq!(wish(key, &playback(Pace::Automatic)), None);
    }

    #[test]
    fn the_pace_ends_at_both_ends_of_the_scale() {
        assert_eq!(slower(Pace::Fixed(Speed::SCALE[0])), Pace::Fixed(Speed::SCALE[0]));
        assert_eq!(faster(Pace::Fixed(Speed::SCALE[10])), Pace::Fixed(Speed::SCALE[10]));
    }
}
