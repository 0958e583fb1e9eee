//! Where things stand on the stage, in CSS pixels, so that messages can be drawn in the gutters without measuring the
//! page. The styles in `www/page.css` use the same numbers. It draws nothing.
use highwater_studio::view::model::*;

/// Between two topics.
const TOPIC_GAP: u32 = 12;
/// Columns for which there is always room: the stage is never narrower.
const LEAST_COLUMNS: u32 = 6;
const LEGEND: u32 = 44;
/// Squares of a heat strip, and how many lines of them fit a row.
pub const HEAT: u32 = 16;
const HEAT_LINES: u32 = 6;
const HEAT_LEAST_PER_LINE: u32 = 25;

/// The place that the stage has on the page, in CSS pixels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Room {
    /// Without what a scroll bar takes.
    pub width: u32,
    pub height: u32,
    /// What a scroll bar takes, where it takes anything: to be had while everything is in sight.
    pub bar: u32,
}

impl Room {
    /// Where nothing is known of the page, nothing is made smaller.
    pub const AMPLE: Room = Room { width: 4_000, height: 4_000, bar: 0 };
}

/// How wide columns and cards are, the widest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fit {
    Wide,
    Snug,
    Close,
    Tight,
}

impl Fit {
    pub const ALL: [Fit; 4] = [Fit::Wide, Fit::Snug, Fit::Close, Fit::Tight];

    pub fn class(self) -> &'static str {
        match self {
            Fit::Wide => "fit-wide",
            Fit::Snug => "fit-snug",
            Fit::Close => "fit-close",
            Fit::Tight => "fit-tight",
        }
    }

    /// Left edge of the first column.
    pub fn left(self) -> u32 {
        match self {
            Fit::Wide | Fit::Snug => 128,
            Fit::Close | Fit::Tight => 119,
        }
    }

    /// Free place right of the last column.
    fn right(self) -> u32 {
        match self {
            Fit::Wide | Fit::Snug => 8,
            Fit::Close | Fit::Tight => 3,
        }
    }

    /// From one column to the next, and how much of that is free.
    fn step(self, d: Density) -> (u32, u32) {
        match (d, self) {
            (Density::Cells, Fit::Wide) => (124, 12),
            (Density::Cells, Fit::Snug) => (116, 12),
            (Density::Cells, Fit::Close) => (106, 8),
            (Density::Cells, Fit::Tight) => (88, 8),
            (Density::Bars, Fit::Wide | Fit::Snug) => (66, 12),
            (Density::Bars, Fit::Close | Fit::Tight) => (54, 8),
            (Density::Heat, _) => (HEAT, 0),
        }
    }

    /// Widths of the two columns of client cards; what a group says is longer.
    fn cards(self) -> [u32; 2] {
        match self {
            Fit::Wide => [346, 386],
            Fit::Snug => [322, 362],
            Fit::Close => [262, 366],
            Fit::Tight => [232, 288],
        }
    }

    /// From one card to the next, and from one row of cards to the next.
    fn card_steps(self) -> (u32, u32) {
        match self {
            Fit::Wide => (self.cards()[0] + 10, 72),
            Fit::Snug => (self.cards()[0] + 10, 72),
            Fit::Close => (self.cards()[0] + 8, 68),
            Fit::Tight => (self.cards()[0] + 8, 80),
        }
    }

    /// From one square of an internal topic to the next.
    pub fn square(self) -> u32 {
        match self {
            Fit::Wide => 14,
            Fit::Snug => 13,
            Fit::Close => 12,
            Fit::Tight => 10,
        }
    }

    /// Where there is room for few words.
    pub fn few_words(self) -> bool {
        match self {
            Fit::Wide | Fit::Snug | Fit::Close => false,
            Fit::Tight => true,
        }
    }

    fn width(self, scene: &Scene) -> u32 {
        let topics = scene.topics.iter().map(|t| self.topic(t.partitions.len()) + TOPIC_GAP).sum::<u32>();
        self.left() + topics.saturating_sub(TOPIC_GAP).max(self.least()) + self.right()
    }

    fn least(self) -> u32 {
        LEAST_COLUMNS * self.step(Density::Cells).0
    }

    /// Width of a topic's columns.
    fn topic(self, partitions: usize) -> u32 {
        let n = u32::try_from(partitions).unwrap_or(u32::MAX);
        match Density::of(partitions) {
            d @ (Density::Cells | Density::Bars) => n.saturating_mul(self.step(d).0),
            Density::Heat => heat_per_line(partitions) * HEAT + 8,
        }
    }

    /// The widest that shows all columns; where none does, the widest that shows six.
    pub fn of(scene: &Scene, room: u32) -> Fit {
        let all = Fit::ALL.into_iter().find(|f| f.width(scene) <= room);
        let six = || Fit::ALL.into_iter().find(|f| f.left() + f.least() + f.right() <= room);
        all.or_else(six).unwrap_or(Fit::Tight)
    }
}

/// Heights: as they are best read, or as low as they can be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Heights {
    controllers_bottom: u32,
    /// The horizontal gutter below the controllers.
    upper_gutter: u32,
    /// Top of the first broker's box.
    brokers_top: u32,
    /// Between two of them.
    between: u32,
    /// Middle of the replicas below the top of their broker's box.
    replica_middle: u32,
    low: bool,
}

impl Heights {
    const TALL: Heights = Heights {
        controllers_bottom: 44,
        upper_gutter: 51,
        brokers_top: 108,
        between: 10,
        replica_middle: 40,
        low: false,
    };
    const LOW: Heights = Heights {
        controllers_bottom: 34,
        upper_gutter: 38,
        brokers_top: 94,
        between: 4,
        replica_middle: 34,
        low: true,
    };

    /// Height of a broker's box: low, it has no place for what is not there.
    fn broker(self, b: &BrokerView, acts: bool) -> u32 {
        let squares = b.internal.iter().any(|s| !s.squares.is_empty());
        match (self.low, squares, acts) {
            (false, ..) => 116,
            (true, true, _) => 102,
            (true, false, true) => 96,
            (true, false, false) => 84,
        }
    }
}

/// How much of a topic's partitions is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Density {
    /// A cell for each record.
    Cells,
    /// The same in narrow columns.
    Bars,
    /// One square a partition.
    Heat,
}

impl Density {
    /// More than fits: first bars, then squares.
    pub fn of(partitions: usize) -> Density {
        match partitions {
            0..=8 => Density::Cells,
            9..=24 => Density::Bars,
            _ => Density::Heat,
        }
    }

    pub fn class(self) -> &'static str {
        match self {
            Density::Cells => "d-cells",
            Density::Bars => "d-bars",
            Density::Heat => "d-heat",
        }
    }
}

/// Squares in one line of a heat strip.
pub fn heat_per_line(partitions: usize) -> u32 {
    u32::try_from(partitions).unwrap_or(u32::MAX).div_ceil(HEAT_LINES).max(HEAT_LEAST_PER_LINE)
}

/// A place of the stage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Point {
    pub x: u32,
    pub y: u32,
}

/// The stage's measures for one scene.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Geometry {
    pub width: u32,
    pub height: u32,
    pub fit: Fit,
    heights: Heights,
    /// Left edge of each topic.
    topics: Vec<(String, u32, usize)>,
    /// Each broker with the top of its box.
    brokers: Vec<(u32, u32)>,
    controllers: Vec<u32>,
    /// The card of each client; members stand in their group's.
    clients: Vec<Vec<NodeRef>>,
    clients_top: u32,
}

impl Geometry {
    /// `acts`: brokers have menus.
    pub fn of(scene: &Scene, room: Room, acts: bool) -> Geometry {
        let whole = Geometry::with(scene, Fit::of(scene, room.width + room.bar), Heights::TALL, acts);
        if whole.height <= room.height && whole.width <= room.width + room.bar {
            return whole;
        }
        let fit = Fit::of(scene, room.width);
        let tall = Geometry::with(scene, fit, Heights::TALL, acts);
        // The legend may be scrolled to; clients are what one looks for.
        if tall.height - LEGEND <= room.height { tall } else { Geometry::with(scene, fit, Heights::LOW, acts) }
    }

    fn with(scene: &Scene, fit: Fit, heights: Heights, acts: bool) -> Geometry {
        let mut x = fit.left();
        let topics = scene
            .topics
            .iter()
            .map(|t| {
                let here = x;
                x += fit.topic(t.partitions.len()) + TOPIC_GAP;
                (t.name.clone(), here, t.partitions.len())
            })
            .collect();
        let mut y = heights.brokers_top;
        let brokers = scene
            .brokers
            .iter()
            .map(|b| {
                let here = y;
                y += heights.broker(b, acts) + heights.between;
                (b.id, here)
            })
            .collect();
        let mut clients: Vec<Vec<NodeRef>> =
            scene.producers.iter().map(|p| vec![NodeRef::Producer(p.name.clone())]).collect();
        clients
            .extend(scene.groups.iter().map(|g| g.members.iter().map(|m| NodeRef::Member(m.name.clone())).collect()));
        let clients_top = y + 4;
        let lines = u32::try_from(clients.len().div_ceil(2)).unwrap_or(u32::MAX);
        Geometry {
            width: fit.width(scene),
            height: clients_top + lines * fit.card_steps().1 + LEGEND,
            fit,
            heights,
            topics,
            brokers,
            controllers: scene.controllers.iter().map(|c| c.id).collect(),
            clients,
            clients_top,
        }
    }

    /// The names of its measures in the styles.
    pub fn classes(&self) -> Vec<&'static str> {
        let mut all = vec![self.fit.class()];
        if self.heights.low {
            all.push("low");
        }
        all
    }

    /// Left edge and width of a column, for its band; a heat strip is one band.
    pub fn column(&self, p: &PartitionRef) -> Option<(u32, u32)> {
        let (_, x, n) = self.topics.iter().find(|(name, ..)| *name == p.topic)?;
        Some(match Density::of(*n) {
            d @ (Density::Cells | Density::Bars) => {
                let (step, gap) = self.fit.step(d);
                (x + p.partition * step, step - gap)
            }
            Density::Heat => (*x, self.fit.topic(*n)),
        })
    }

    /// Vertical extent of the columns: heads and all brokers.
    pub fn columns_extent(&self) -> (u32, u32) {
        let top = self.heights.brokers_top - 50;
        (top, (self.clients_top + 44).saturating_sub(top))
    }

    /// The gutter left of a column; without one, each broker has a gutter of its own so that messages do not pile up.
    fn gutter(&self, about: Option<&PartitionRef>, node: u32) -> u32 {
        if let Some((x, _)) = about.and_then(|p| self.column(p)) {
            return x - 6;
        }
        let columns = self.topics.first().map_or(1, |(_, _, n)| (*n).clamp(1, 8));
        let step =
            self.topics.first().map_or(self.fit.step(Density::Cells).0, |(_, _, n)| self.fit.step(Density::of(*n)).0);
        self.fit.left() + u32::try_from(node as usize % columns).unwrap_or(0) * step - 6
    }

    fn controller(&self, id: u32) -> Option<Point> {
        let i = self.controllers.iter().position(|c| *c == id)?;
        let (step, width) = match (self.controllers.len() > 3, self.fit) {
            (false, Fit::Wide) => (248, 236),
            (false, Fit::Snug) => (230, 218),
            (false, Fit::Close) => (212, 204),
            (false, Fit::Tight) => (176, 168),
            (true, Fit::Wide) => (149, 140),
            (true, Fit::Snug) => (139, 130),
            (true, Fit::Close) => (127, 119),
            (true, Fit::Tight) => (105, 97),
        };
        let x = self.fit.left() + u32::try_from(i).ok()? * step + width / 2;
        Some(Point { x, y: self.heights.controllers_bottom })
    }

    fn broker(&self, id: u32) -> Option<u32> {
        self.brokers.iter().find(|(b, _)| *b == id).map(|(_, top)| top + self.heights.replica_middle)
    }

    fn client(&self, who: &NodeRef) -> Option<Point> {
        let i = self.clients.iter().position(|c| c.contains(who))?;
        let (column, row) = (u32::try_from(i % 2).ok()?, u32::try_from(i / 2).ok()?);
        let (step, line) = self.fit.card_steps();
        let x = self.fit.left() - 5 + column * step + self.fit.cards()[i % 2] / 2;
        Some(Point { x, y: self.clients_top + row * line })
    }

    /// The way of a message: corners from sender to receiver, in gutters all along. `None`: an end is not on the stage.
    pub fn way(&self, f: &Flight) -> Option<Vec<Point>> {
        self.between(&f.from, &f.to, f.about.as_ref())
    }

    /// The link of two nodes: where their messages about nothing in particular go.
    pub fn link(&self, a: &NodeRef, b: &NodeRef) -> Option<Vec<Point>> {
        self.between(a, b, None)
    }

    fn between(&self, from: &NodeRef, to: &NodeRef, about: Option<&PartitionRef>) -> Option<Vec<Point>> {
        let broker = match (from, to) {
            (NodeRef::Broker(b), _) | (_, NodeRef::Broker(b)) => *b,
            (NodeRef::Controller(c), _) | (_, NodeRef::Controller(c)) => *c,
            (NodeRef::Producer(_) | NodeRef::Member(_) | NodeRef::Admin, _) => 0,
        };
        let gutter = self.gutter(about, broker);
        let mut way = self.end(from, gutter)?;
        let mut back = self.end(to, gutter)?;
        back.reverse();
        way.extend(back);
        way.dedup();
        Some(way)
    }

    /// From a node to the gutter.
    fn end(&self, node: &NodeRef, gutter: u32) -> Option<Vec<Point>> {
        let upper = self.heights.upper_gutter;
        Some(match node {
            NodeRef::Broker(b) => vec![Point { x: gutter, y: self.broker(*b)? }],
            NodeRef::Controller(c) => {
                let p = self.controller(*c)?;
                vec![p, Point { x: p.x, y: upper }, Point { x: gutter, y: upper }]
            }
            NodeRef::Producer(_) | NodeRef::Member(_) => {
                let p = self.client(node)?;
                let between = self.clients_top - 8;
                vec![p, Point { x: p.x, y: between }, Point { x: gutter, y: between }]
            }
            // The administrator stands outside, at the upper left.
            NodeRef::Admin => vec![Point { x: 8, y: upper }, Point { x: gutter, y: upper }],
        })
    }
}

/// The place on a way after so many millionths of its length, in tenths of a pixel.
pub fn along(way: &[Point], ppm: u32) -> (u32, u32) {
    let length = |a: &Point, b: &Point| u64::from(a.x.abs_diff(b.x)) + u64::from(a.y.abs_diff(b.y));
    let total: u64 = way.windows(2).map(|w| length(&w[0], &w[1])).sum();
    let mut left = total * 10 * u64::from(ppm.min(1_000_000)) / 1_000_000;
    for w in way.windows(2) {
        let here = length(&w[0], &w[1]) * 10;
        if left <= here && here > 0 {
            let part = |a: u32, b: u32| {
                let (a, b) = (i64::from(a) * 10, i64::from(b) * 10);
                let moved = (b - a) * left as i64 / here as i64;
                u32::try_from(a + moved).unwrap_or(0)
            };
            return (part(w[0].x, w[1].x), part(w[0].y, w[1].y));
        }
        left -= here;
    }
    way.last().map_or((0, 0), |p| (p.x * 10, p.y * 10))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn more_partitions_than_fit_shrink_to_bars_and_then_to_squares() {
        assert_eq!(Density::of(8), Density::Cells);
        assert_eq!(Density::of(9), Density::Bars);
        assert_eq!(Density::of(24), Density::Bars);
        assert_eq!(Density::of(25), Density::Heat);
        assert_eq!(heat_per_line(50), 25);
        assert_eq!(heat_per_line(600), 100);
    }

    /// A topic of six partitions and nothing else.
    fn six() -> Scene {
        let partition = |partition| PartitionView {
            partition,
            leader: None,
            leader_epoch: 0,
            partition_epoch: 0,
            isr: vec![],
            elr: vec![],
            last_known_leader: None,
            replicas: vec![],
            isr_health: IsrHealth::Offline,
            high_watermark: 0,
            first_shown: 0,
        };
        Scene {
            revision: 0,
            at_us: 0,
            origin: Origin::Link { title: None },
            controllers: vec![],
            topics: vec![TopicView {
                name: "orders".into(),
                internal: false,
                replication_factor: 3,
                min_insync_replicas: 1,
                partitions: (0..6).map(partition).collect(),
            }],
            internal: vec![],
            brokers: vec![],
            producers: vec![],
            groups: vec![],
            selected_group: None,
            cuts: vec![],
            links: vec![],
        }
    }

    #[test]
    fn six_columns_fit_between_the_panels_at_1440_and_1024_and_in_an_embed() {
        // Less 248 and 312 px of panels at 1440, 44 and 312 at 1024, and 16 for a scroll bar.
        for (room, fit) in [(864, Fit::Snug), (652 + 6, Fit::Tight), (760, Fit::Close), (1_000, Fit::Wide)] {
            assert_eq!(Fit::of(&six(), room), fit, "{room}");
            assert!(Geometry::of(&six(), Room { width: room, height: 900, bar: 0 }, true).width <= room, "{room}");
        }
    }

    #[test]
    fn a_low_room_makes_a_low_stage() {
        let height = |h| Geometry::of(&six(), Room { width: 900, height: h, bar: 0 }, true).heights.low;
        assert_eq!((height(800), height(100)), (false, true));
    }

    #[test]
    fn a_message_is_where_its_share_of_the_way_ends() {
        let way = [Point { x: 0, y: 0 }, Point { x: 10, y: 0 }, Point { x: 10, y: 30 }];
        assert_eq!(along(&way, 0), (0, 0));
        assert_eq!(along(&way, 250_000), (100, 0));
        assert_eq!(along(&way, 500_000), (100, 100));
        assert_eq!(along(&way, 1_000_000), (100, 300));
    }
}
