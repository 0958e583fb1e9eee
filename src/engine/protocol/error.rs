//! Kafka's error codes with their numbers, families and what a Java application sees of them: exception and sentence.
//! Data, never control flow of the simulator.

use alloc::rc::Rc;

macro_rules! error_codes {
    ($($variant:ident = $code:literal, $name:literal, $exception:literal, $message:literal;)*) => {
        /// An error of the Kafka protocol.
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum ErrorCode {
            #[default]
            None,
            $($variant,)*
        }
        impl ErrorCode {
            /// The number on the wire.
            pub const fn code(self) -> i16 {
                match self { ErrorCode::None => 0, $(ErrorCode::$variant => $code,)* }
            }
            /// Kafka's name, for example `NOT_ENOUGH_REPLICAS`.
            pub const fn name(self) -> &'static str {
                match self { ErrorCode::None => "NONE", $(ErrorCode::$variant => $name,)* }
            }
            /// The exception of the Java clients, for example `NotEnoughReplicasException`.
            pub const fn exception(self) -> &'static str {
                match self { ErrorCode::None => "none", $(ErrorCode::$variant => $exception,)* }
            }
            /// What an exception of the Java clients says if the server sends no sentence of its own along.
            pub const fn message(self) -> &'static str {
                match self { ErrorCode::None => "", $(ErrorCode::$variant => $message,)* }
            }
            /// Every error but `NONE`.
            pub const ALL: &'static [ErrorCode] = &[$(ErrorCode::$variant,)*];
        }
    };
}

error_codes! {
    UnknownServerError = -1, "UNKNOWN_SERVER_ERROR", "UnknownServerException",
        "The server experienced an unexpected error when processing the request.";
    OffsetOutOfRange = 1, "OFFSET_OUT_OF_RANGE", "OffsetOutOfRangeException",
        "The requested offset is not within the range of offsets maintained by the server.";
    CorruptMessage = 2, "CORRUPT_MESSAGE", "CorruptRecordException",
        "This message has failed its CRC checksum, exceeds the valid size, has a null key for a compacted topic, or \
         is otherwise corrupt.";
    UnknownTopicOrPartition = 3, "UNKNOWN_TOPIC_OR_PARTITION", "UnknownTopicOrPartitionException",
        "This server does not host this topic-partition.";
    LeaderNotAvailable = 5, "LEADER_NOT_AVAILABLE", "LeaderNotAvailableException",
        "There is no leader for this topic-partition as we are in the middle of a leadership election.";
    NotLeaderOrFollower = 6, "NOT_LEADER_OR_FOLLOWER", "NotLeaderOrFollowerException",
        "For requests intended only for the leader, this error indicates that the broker is not the current leader. \
         For requests intended for any replica, this error indicates that the broker is not a replica of the topic \
         partition.";
    RequestTimedOut = 7, "REQUEST_TIMED_OUT", "TimeoutException",
        "The request timed out.";
    BrokerNotAvailable = 8, "BROKER_NOT_AVAILABLE", "BrokerNotAvailableException",
        "The broker is not available.";
    ReplicaNotAvailable = 9, "REPLICA_NOT_AVAILABLE", "ReplicaNotAvailableException",
        "The replica is not available for the requested topic-partition. Produce/Fetch requests and other requests \
         intended only for the leader or follower return NOT_LEADER_OR_FOLLOWER if the broker is not a replica of \
         the topic-partition.";
    MessageTooLarge = 10, "MESSAGE_TOO_LARGE", "RecordTooLargeException",
        "The request included a message larger than the max message size the server will accept.";
    NetworkException = 13, "NETWORK_EXCEPTION", "NetworkException",
        "The server disconnected before a response was received.";
    CoordinatorLoadInProgress = 14, "COORDINATOR_LOAD_IN_PROGRESS", "CoordinatorLoadInProgressException",
        "The coordinator is loading and hence can't process requests.";
    CoordinatorNotAvailable = 15, "COORDINATOR_NOT_AVAILABLE", "CoordinatorNotAvailableException",
        "The coordinator is not available.";
    NotCoordinator = 16, "NOT_COORDINATOR", "NotCoordinatorException",
        "This is not the correct coordinator.";
    InvalidTopicException = 17, "INVALID_TOPIC_EXCEPTION", "InvalidTopicException",
        "The request attempted to perform an operation on an invalid topic.";
    RecordListTooLarge = 18, "RECORD_LIST_TOO_LARGE", "RecordBatchTooLargeException",
        "The request included message batch larger than the configured segment size on the server.";
    NotEnoughReplicas = 19, "NOT_ENOUGH_REPLICAS", "NotEnoughReplicasException",
        "Messages are rejected since there are fewer in-sync replicas than required.";
    NotEnoughReplicasAfterAppend = 20, "NOT_ENOUGH_REPLICAS_AFTER_APPEND", "NotEnoughReplicasAfterAppendException",
        "Messages are written to the log, but to fewer in-sync replicas than required.";
    InvalidRequiredAcks = 21, "INVALID_REQUIRED_ACKS", "InvalidRequiredAcksException",
        "Produce request specified an invalid value for required acks.";
    IllegalGeneration = 22, "ILLEGAL_GENERATION", "IllegalGenerationException",
        "Specified group generation id is not valid.";
    InconsistentGroupProtocol = 23, "INCONSISTENT_GROUP_PROTOCOL", "InconsistentGroupProtocolException",
        "The group member's supported protocols are incompatible with those of existing members or first group \
         member tried to join with empty protocol type or empty protocol list.";
    InvalidGroupId = 24, "INVALID_GROUP_ID", "InvalidGroupIdException",
        "The group id is invalid.";
    UnknownMemberId = 25, "UNKNOWN_MEMBER_ID", "UnknownMemberIdException",
        "The coordinator is not aware of this member.";
    InvalidSessionTimeout = 26, "INVALID_SESSION_TIMEOUT", "InvalidSessionTimeoutException",
        "The session timeout is not within the range allowed by the broker (as configured by \
         group.min.session.timeout.ms and group.max.session.timeout.ms).";
    RebalanceInProgress = 27, "REBALANCE_IN_PROGRESS", "RebalanceInProgressException",
        "The group is rebalancing, so a rejoin is needed.";
    TopicAlreadyExists = 36, "TOPIC_ALREADY_EXISTS", "TopicExistsException",
        "Topic with this name already exists.";
    InvalidPartitions = 37, "INVALID_PARTITIONS", "InvalidPartitionsException",
        "Number of partitions is below 1.";
    InvalidReplicationFactor = 38, "INVALID_REPLICATION_FACTOR", "InvalidReplicationFactorException",
        "Replication factor is below 1 or larger than the number of available brokers.";
    InvalidReplicaAssignment = 39, "INVALID_REPLICA_ASSIGNMENT", "InvalidReplicaAssignmentException",
        "Replica assignment is invalid.";
    InvalidConfig = 40, "INVALID_CONFIG", "InvalidConfigurationException",
        "Configuration is invalid.";
    NotController = 41, "NOT_CONTROLLER", "NotControllerException",
        "This is not the correct controller for this cluster.";
    InvalidRequest = 42, "INVALID_REQUEST", "InvalidRequestException",
        "This most likely occurs because of a request being malformed by the client library or the message was sent \
         to an incompatible broker. See the broker logs for more details.";
    OutOfOrderSequenceNumber = 45, "OUT_OF_ORDER_SEQUENCE_NUMBER", "OutOfOrderSequenceException",
        "The broker received an out of order sequence number.";
    DuplicateSequenceNumber = 46, "DUPLICATE_SEQUENCE_NUMBER", "DuplicateSequenceException",
        "The broker received a duplicate sequence number.";
    PolicyViolation = 44, "POLICY_VIOLATION", "PolicyViolationException",
        "Request parameters do not satisfy the configured policy.";
    InvalidProducerEpoch = 47, "INVALID_PRODUCER_EPOCH", "InvalidProducerEpochException",
        "Producer attempted to produce with an old epoch.";
    OperationNotAttempted = 55, "OPERATION_NOT_ATTEMPTED", "OperationNotAttemptedException",
        "The broker did not attempt to execute this operation. This may happen for batched RPCs where some \
         operations in the batch failed, causing the broker to respond without trying the rest.";
    KafkaStorageError = 56, "KAFKA_STORAGE_ERROR", "KafkaStorageException",
        "Disk error when trying to access log file on the disk.";
    NonEmptyGroup = 68, "NON_EMPTY_GROUP", "GroupNotEmptyException",
        "The group is not empty.";
    GroupIdNotFound = 69, "GROUP_ID_NOT_FOUND", "GroupIdNotFoundException",
        "The group id does not exist.";
    FencedLeaderEpoch = 74, "FENCED_LEADER_EPOCH", "FencedLeaderEpochException",
        "The leader epoch in the request is older than the epoch on the broker.";
    UnknownLeaderEpoch = 75, "UNKNOWN_LEADER_EPOCH", "UnknownLeaderEpochException",
        "The leader epoch in the request is newer than the epoch on the broker.";
    StaleBrokerEpoch = 77, "STALE_BROKER_EPOCH", "StaleBrokerEpochException",
        "Broker epoch has changed.";
    OffsetNotAvailable = 78, "OFFSET_NOT_AVAILABLE", "OffsetNotAvailableException",
        "The leader high watermark has not caught up from a recent leader election so the offsets cannot be \
         guaranteed to be monotonically increasing.";
    MemberIdRequired = 79, "MEMBER_ID_REQUIRED", "MemberIdRequiredException",
        "The group member needs to have a valid member id before actually entering a consumer group.";
    PreferredLeaderNotAvailable = 80, "PREFERRED_LEADER_NOT_AVAILABLE", "PreferredLeaderNotAvailableException",
        "The preferred leader was not available.";
    GroupMaxSizeReached = 81, "GROUP_MAX_SIZE_REACHED", "GroupMaxSizeReachedException",
        "The group has reached its maximum size.";
    FencedInstanceId = 82, "FENCED_INSTANCE_ID", "FencedInstanceIdException",
        "The broker rejected this static consumer since another consumer with the same group.instance.id has \
         registered with a different member.id.";
    EligibleLeadersNotAvailable = 83, "ELIGIBLE_LEADERS_NOT_AVAILABLE", "EligibleLeadersNotAvailableException",
        "Eligible topic partition leaders are not available.";
    ElectionNotNeeded = 84, "ELECTION_NOT_NEEDED", "ElectionNotNeededException",
        "Leader election not needed for topic partition.";
    InvalidUpdateVersion = 95, "INVALID_UPDATE_VERSION", "InvalidUpdateVersionException",
        "The given update version was invalid.";
    UnknownTopicId = 100, "UNKNOWN_TOPIC_ID", "UnknownTopicIdException",
        "This server does not host this topic ID.";
    DuplicateBrokerRegistration = 101, "DUPLICATE_BROKER_REGISTRATION", "DuplicateBrokerRegistrationException",
        "This broker ID is already in use.";
    BrokerIdNotRegistered = 102, "BROKER_ID_NOT_REGISTERED", "BrokerIdNotRegisteredException",
        "The given broker ID was not registered.";
    InconsistentTopicId = 103, "INCONSISTENT_TOPIC_ID", "InconsistentTopicIdException",
        "The log's topic ID did not match the topic ID in the request.";
    IneligibleReplica = 107, "INELIGIBLE_REPLICA", "IneligibleReplicaException",
        "The new ISR contains at least one ineligible replica.";
    NewLeaderElected = 108, "NEW_LEADER_ELECTED", "NewLeaderElectedException",
        "The AlterPartition request successfully updated the partition state but the leader has changed.";
}

impl ErrorCode {
    /// Whether this is success.
    pub const fn is_none(self) -> bool {
        matches!(self, ErrorCode::None)
    }

    /// Whether a client that sees it looks for the leader or coordinator anew.
    pub const fn refreshes_metadata(self) -> bool {
        use ErrorCode::*;
        matches!(
            self,
            UnknownTopicOrPartition
                | LeaderNotAvailable
                | NotLeaderOrFollower
                | ReplicaNotAvailable
                | NetworkException
                | KafkaStorageError
                | FencedLeaderEpoch
                | UnknownTopicId
                | InconsistentTopicId
                | PreferredLeaderNotAvailable
                | EligibleLeadersNotAvailable
                | ElectionNotNeeded
        )
    }

    /// Whether a client may send the same thing again.
    pub const fn retriable(self) -> bool {
        use ErrorCode::*;
        self.refreshes_metadata()
            || matches!(
                self,
                CorruptMessage
                    | RequestTimedOut
                    | CoordinatorLoadInProgress
                    | CoordinatorNotAvailable
                    | NotCoordinator
                    | NotEnoughReplicas
                    | NotEnoughReplicasAfterAppend
                    | NotController
                    | UnknownLeaderEpoch
                    | OffsetNotAvailable
            )
    }
}

/// An error, and the sentence that a server sends along with it (`error_message`).
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct ApiError {
    pub error: ErrorCode,
    pub message: Option<Rc<str>>,
}

impl ApiError {
    pub fn new(error: ErrorCode, message: impl Into<Rc<str>>) -> ApiError {
        ApiError { error, message: Some(message.into()) }
    }

    /// The sentence of the exception that a client makes of it.
    pub fn sentence(&self) -> Rc<str> {
        self.message.clone().unwrap_or_else(|| self.error.message().into())
    }
}

impl From<ErrorCode> for ApiError {
    fn from(error: ErrorCode) -> ApiError {
        ApiError { error, message: None }
    }
}
