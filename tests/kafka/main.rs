//! What real Apache Kafka did: the same steps, the same outcome.
