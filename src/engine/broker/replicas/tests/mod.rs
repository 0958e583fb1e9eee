//! Tests of replicas without a world: what a broker makes of one request, answer or record at a time. No message
//! travels here.

mod acks;
mod following;
mod isr;
mod leading;
mod offsets;
mod rig;
