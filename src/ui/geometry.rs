//! Where things stand on the stage, in CSS pixels, so that messages can be drawn in the gutters without measuring the
//! page.
//! The styles in `www/stage.css` use the same numbers. It draws nothing.
use highwater_studio::view::model::*;

/// Left edge of the first column.
pub const LEFT: u32 = 128;
pub const CONTROLLERS_BOTTOM: u32 = 44;
/// The horizontal gutter below the controllers.
pub const UPPER_GUTTER: u32 = 51;
/// Top of the first broker's box.
pub const BROKERS_TOP: u32 = 108;
/// From the top of one broker's box to the next.
pub const ROW: u32 = 126;
/// Middle of the replicas below the top of their broker's box.
const REPLICA_MIDDLE: u32 = 40;
/// Widths of the two columns of client cards; what a group says is longer.
const CLIENT_W: [u32; 2] = [346, 386];
const CLIENT_STEP: u32 = CLIENT_W[0] + 10;
const CLIENT_ROW: u32 = 72;
const LEGEND: u32 = 44;
/// Room for six columns: the stage is never narrower.
const LEAST_WIDTH: u32 = LEFT + 6 * 124;
/// Between two topics.
const TOPIC_GAP: u32 = 12;
/// Squares of a heat strip, and how many lines of them fit a row.
pub const HEAT: u32 = 16;
const HEAT_LINES: u32 = 6;
const HEAT_LEAST_PER_LINE: u32 = 25;

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

    /// From one column to the next.
    pub fn step(self) -> u32 {
        match self {
            Density::Cells => 124,
            Density::Bars => 66,
            Density::Heat => HEAT,
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

/// Width of a topic's columns.
fn topic_width(partitions: usize) -> u32 {
    let n = u32::try_from(partitions).unwrap_or(u32::MAX);
    match Density::of(partitions) {
        d @ (Density::Cells | Density::Bars) => n * d.step(),
        Density::Heat => heat_per_line(partitions) * HEAT + 8,
    }
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
    /// Left edge of each topic.
    topics: Vec<(String, u32, usize)>,
    brokers: Vec<u32>,
    controllers: Vec<u32>,
    /// The card of each client; members stand in their group's.
    clients: Vec<Vec<NodeRef>>,
    clients_top: u32,
}

impl Geometry {
    pub fn of(scene: &Scene) -> Geometry {
        let mut x = LEFT;
        let topics = scene
            .topics
            .iter()
            .map(|t| {
                let here = x;
                x += topic_width(t.partitions.len()) + TOPIC_GAP;
                (t.name.clone(), here, t.partitions.len())
            })
            .collect();
        let brokers: Vec<u32> = scene.brokers.iter().map(|b| b.id).collect();
        let mut clients: Vec<Vec<NodeRef>> =
            scene.producers.iter().map(|p| vec![NodeRef::Producer(p.name.clone())]).collect();
        clients
            .extend(scene.groups.iter().map(|g| g.members.iter().map(|m| NodeRef::Member(m.name.clone())).collect()));
        let rows = u32::try_from(brokers.len()).unwrap_or(u32::MAX);
        let clients_top = BROKERS_TOP + rows * ROW + 4;
        let lines = u32::try_from(clients.len().div_ceil(2)).unwrap_or(u32::MAX);
        Geometry {
            width: (x - TOPIC_GAP).max(LEAST_WIDTH) + 8,
            height: clients_top + lines * CLIENT_ROW + LEGEND,
            topics,
            brokers,
            controllers: scene.controllers.iter().map(|c| c.id).collect(),
            clients,
            clients_top,
        }
    }

    /// Left edge and width of a column, for its band; a heat strip is one band.
    pub fn column(&self, p: &PartitionRef) -> Option<(u32, u32)> {
        let (_, x, n) = self.topics.iter().find(|(name, ..)| *name == p.topic)?;
        Some(match Density::of(*n) {
            d @ (Density::Cells | Density::Bars) => (x + p.partition * d.step(), d.step() - 12),
            Density::Heat => (*x, topic_width(*n)),
        })
    }

    /// Vertical extent of the columns: heads and all brokers.
    pub fn columns_extent(&self) -> (u32, u32) {
        (58, self.clients_top - 14)
    }

    /// The gutter left of a column; without one, each broker has a gutter of its own so that messages do not pile up.
    fn gutter(&self, about: Option<&PartitionRef>, node: u32) -> u32 {
        if let Some((x, _)) = about.and_then(|p| self.column(p)) {
            return x - 6;
        }
        let columns = self.topics.first().map_or(1, |(_, _, n)| (*n).clamp(1, 8));
        let step = self.topics.first().map_or(124, |(_, _, n)| Density::of(*n).step());
        LEFT + u32::try_from(node as usize % columns).unwrap_or(0) * step - 6
    }

    fn controller(&self, id: u32) -> Option<Point> {
        let i = self.controllers.iter().position(|c| *c == id)?;
        let (step, width) = if self.controllers.len() > 3 { (149, 140) } else { (248, 236) };
        Some(Point { x: LEFT + u32::try_from(i).ok()? * step + width / 2, y: CONTROLLERS_BOTTOM })
    }

    fn broker(&self, id: u32) -> Option<u32> {
        let r = self.brokers.iter().position(|b| *b == id)?;
        Some(BROKERS_TOP + u32::try_from(r).ok()? * ROW + REPLICA_MIDDLE)
    }

    fn client(&self, who: &NodeRef) -> Option<Point> {
        let i = self.clients.iter().position(|c| c.contains(who))?;
        let (column, row) = (u32::try_from(i % 2).ok()?, u32::try_from(i / 2).ok()?);
        Some(Point { x: LEFT - 5 + column * CLIENT_STEP + CLIENT_W[i % 2] / 2, y: self.clients_top + row * CLIENT_ROW })
    }

    /// The way of a message: corners from sender to receiver, in gutters all along. `None`: an end is not on the stage.
    pub fn way(&self, f: &Flight) -> Option<Vec<Point>> {
        let broker = match (&f.from, &f.to) {
            (NodeRef::Broker(b), _) | (_, NodeRef::Broker(b)) => *b,
            (NodeRef::Controller(c), _) | (_, NodeRef::Controller(c)) => *c,
            (NodeRef::Producer(_) | NodeRef::Member(_) | NodeRef::Admin, _) => 0,
        };
        let gutter = self.gutter(f.about.as_ref(), broker);
        let mut way = self.end(&f.from, gutter)?;
        let mut back = self.end(&f.to, gutter)?;
        back.reverse();
        way.extend(back);
        way.dedup();
        Some(way)
    }

    /// From a node to the gutter.
    fn end(&self, node: &NodeRef, gutter: u32) -> Option<Vec<Point>> {
        Some(match node {
            NodeRef::Broker(b) => vec![Point { x: gutter, y: self.broker(*b)? }],
            NodeRef::Controller(c) => {
                let p = self.controller(*c)?;
                vec![p, Point { x: p.x, y: UPPER_GUTTER }, Point { x: gutter, y: UPPER_GUTTER }]
            }
            NodeRef::Producer(_) | NodeRef::Member(_) => {
                let p = self.client(node)?;
                let between = self.clients_top - 8;
                vec![p, Point { x: p.x, y: between }, Point { x: gutter, y: between }]
            }
            // The administrator stands outside, at the upper left.
            NodeRef::Admin => vec![Point { x: 8, y: UPPER_GUTTER }, Point { x: gutter, y: UPPER_GUTTER }],
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

    #[test]
    fn a_message_is_where_its_share_of_the_way_ends() {
        let way = [Point { x: 0, y: 0 }, Point { x: 10, y: 0 }, Point { x: 10, y: 30 }];
        assert_eq!(along(&way, 0), (0, 0));
        assert_eq!(along(&way, 250_000), (100, 0));
        assert_eq!(along(&way, 500_000), (100, 100));
        assert_eq!(along(&way, 1_000_000), (100, 300));
    }
}
