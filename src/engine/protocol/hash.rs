//! The two hash functions that place keys and groups. Both are bit-exact with the Java clients; neither is
//! cryptographic.

/// Java's `String.hashCode`: `h = 31·h + c` over UTF-16 units in 32-bit arithmetic.
pub fn java_hash(text: &str) -> i32 {
    text.encode_utf16().fold(0i32, |h, unit| h.wrapping_mul(31).wrapping_add(i32::from(unit)))
}

/// The partition of `__consumer_offsets` that a group belongs to: |hash| mod n, 0 for the one value without an absolute
/// value.
pub fn group_partition(group: &str, n_partitions: u32) -> u32 {
    let hash = java_hash(group);
    let positive = if hash == i32::MIN { 0 } else { hash.unsigned_abs() };
    positive % n_partitions.max(1)
}

/// Kafka's murmur2 of a serialised key, as a signed 32-bit number.
pub fn murmur2(bytes: &[u8]) -> i32 {
    const M: u32 = 0x5bd1_e995;
    let mut h: u32 = 0x9747_b28c ^ bytes.len() as u32;
    let mut chunks = bytes.chunks_exact(4);
    for chunk in &mut chunks {
        let mut k = u32::from_le_bytes([chunk[0], chunk[1], chunk[2], chunk[3]]);
        k = k.wrapping_mul(M);
        k ^= k >> 24;
        k = k.wrapping_mul(M);
        h = h.wrapping_mul(M) ^ k;
    }
    let rest = chunks.remainder();
    if rest.len() == 3 {
        h ^= u32::from(rest[2]) << 16;
    }
    if rest.len() >= 2 {
        h ^= u32::from(rest[1]) << 8;
    }
    if !rest.is_empty() {
        h ^= u32::from(rest[0]);
        h = h.wrapping_mul(M);
    }
    h ^= h >> 13;
    h = h.wrapping_mul(M);
    h ^= h >> 15;
    h as i32
}

/// The partition of a keyed record: murmur2 with the sign bit masked, mod n.
pub fn key_partition(key: &str, n_partitions: u32) -> u32 {
    (murmur2(key.as_bytes()) as u32 & 0x7fff_ffff) % n_partitions.max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn group_partitions_match_the_recorded_ones() {
        for (group, partition) in [
            ("g1", 42),
            ("my-group", 12),
            ("billing", 9),
            ("orders", 31),
            ("支付", 27),
            ("polygenelubricants", 0),
            ("AaAaAaAa", 34),
        ] {
            assert_eq!(group_partition(group, 50), partition, "{group}");
        }
    }

    #[test]
    fn keys_land_where_the_java_producer_puts_them() {
        for (key, partition) in [
            ("a", 5),
            ("b", 6),
            ("order-1", 4),
            ("order-2", 1),
            ("customer-42", 1),
            ("Zürich", 2),
            ("订单", 0),
            ("0", 3),
            ("key", 4),
        ] {
            assert_eq!(key_partition(key, 7), partition, "{key}");
        }
        assert_eq!(murmur2(b""), 275_646_681);
        assert_eq!(murmur2(b"foobar"), -790_332_482);
    }
}
