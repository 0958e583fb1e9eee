//! The page's components: they show view data and send wishes. They compute nothing about Kafka and name no browser
//! API; for that there is `web`.
pub mod app;
pub mod caption;
pub mod context;
pub mod dialogs;
pub mod geometry;
pub mod header;
pub mod keys;
pub mod lane_way;
pub mod lanes;
pub mod marks;
pub mod menu;
pub mod options;
pub mod panel;
pub mod phone;
pub mod settings;
pub mod share;
pub mod stage;
pub mod storyboard;
pub mod transport;
pub mod words;
