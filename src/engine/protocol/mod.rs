//! Plain data in Kafka's names: records, error codes, requests, responses, metadata records, configs. Decides nothing.

/// Declares that what each server takes or gives is one of all, and the APIs of both: variants have Kafka's names.
macro_rules! one_of {
    ($all:ident: $($server:ident($inner:ident) = $($api:ident)+;)*) => {
        $(impl From<$inner> for $all {
            fn from(inner: $inner) -> $all {
                $all::$server(inner)
            }
        }

        impl $inner {
            pub const fn api(&self) -> Api {
                match self {
                    $($inner::$api { .. } => Api::$api,)+
                }
            }
        })*

        impl $all {
            pub const fn api(&self) -> Api {
                match self {
                    $($all::$server(inner) => inner.api(),)*
                }
            }
        }
    };
}

pub mod api;
pub mod config;
pub mod error;
pub mod group;
pub mod hash;
pub mod metadata;
pub mod record;
pub mod request;
pub mod response;

pub use api::{Api, Server};
pub use error::{ApiError, ErrorCode};
pub use group::*;
pub use metadata::*;
pub use record::*;
pub use request::*;
pub use response::*;

/// The internal topic that holds committed offsets and group metadata.
pub const CONSUMER_OFFSETS: &str = "__consumer_offsets";
/// The metadata log by its name; it is no topic that anybody could make.
pub const CLUSTER_METADATA: &str = "__cluster_metadata";
