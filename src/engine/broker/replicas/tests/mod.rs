//! Tests of replicas without a world: what a broker makes of one request, answer or record at a time. No message travels here.
