//! Kafka's error codes with their numbers, families and the exception that a Java application sees. Data, never control
//! flow of the simulator.

macro_rules! error_codes {
    ($($variant:ident = $code:literal, $name:literal, $exception:literal;)*) => {
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
            /// Every error but `NONE`.
            pub const ALL: &'static [ErrorCode] = &[$(ErrorCode::$variant,)*];
        }
    };
}

error_codes! {
    UnknownServerError = -1, "UNKNOWN_SERVER_ERROR", "UnknownServerException";
    OffsetOutOfRange = 1, "OFFSET_OUT_OF_RANGE", "OffsetOutOfRangeException";
    CorruptMessage = 2, "CORRUPT_MESSAGE", "CorruptRecordException";
    UnknownTopicOrPartition = 3, "UNKNOWN_TOPIC_OR_PARTITION", "UnknownTopicOrPartitionException";
    LeaderNotAvailable = 5, "LEADER_NOT_AVAILABLE", "LeaderNotAvailableException";
    NotLeaderOrFollower = 6, "NOT_LEADER_OR_FOLLOWER", "NotLeaderOrFollowerException";
    RequestTimedOut = 7, "REQUEST_TIMED_OUT", "TimeoutException";
    BrokerNotAvailable = 8, "BROKER_NOT_AVAILABLE", "BrokerNotAvailableException";
    ReplicaNotAvailable = 9, "REPLICA_NOT_AVAILABLE", "ReplicaNotAvailableException";
    MessageTooLarge = 10, "MESSAGE_TOO_LARGE", "RecordTooLargeException";
    NetworkException = 13, "NETWORK_EXCEPTION", "NetworkException";
    CoordinatorLoadInProgress = 14, "COORDINATOR_LOAD_IN_PROGRESS", "CoordinatorLoadInProgressException";
    CoordinatorNotAvailable = 15, "COORDINATOR_NOT_AVAILABLE", "CoordinatorNotAvailableException";
    NotCoordinator = 16, "NOT_COORDINATOR", "NotCoordinatorException";
    InvalidTopicException = 17, "INVALID_TOPIC_EXCEPTION", "InvalidTopicException";
    RecordListTooLarge = 18, "RECORD_LIST_TOO_LARGE", "RecordBatchTooLargeException";
    NotEnoughReplicas = 19, "NOT_ENOUGH_REPLICAS", "NotEnoughReplicasException";
    NotEnoughReplicasAfterAppend = 20, "NOT_ENOUGH_REPLICAS_AFTER_APPEND", "NotEnoughReplicasAfterAppendException";
    InvalidRequiredAcks = 21, "INVALID_REQUIRED_ACKS", "InvalidRequiredAcksException";
    IllegalGeneration = 22, "ILLEGAL_GENERATION", "IllegalGenerationException";
    InconsistentGroupProtocol = 23, "INCONSISTENT_GROUP_PROTOCOL", "InconsistentGroupProtocolException";
    InvalidGroupId = 24, "INVALID_GROUP_ID", "InvalidGroupIdException";
    UnknownMemberId = 25, "UNKNOWN_MEMBER_ID", "UnknownMemberIdException";
    InvalidSessionTimeout = 26, "INVALID_SESSION_TIMEOUT", "InvalidSessionTimeoutException";
    RebalanceInProgress = 27, "REBALANCE_IN_PROGRESS", "RebalanceInProgressException";
    TopicAlreadyExists = 36, "TOPIC_ALREADY_EXISTS", "TopicExistsException";
    InvalidPartitions = 37, "INVALID_PARTITIONS", "InvalidPartitionsException";
    InvalidReplicationFactor = 38, "INVALID_REPLICATION_FACTOR", "InvalidReplicationFactorException";
    InvalidReplicaAssignment = 39, "INVALID_REPLICA_ASSIGNMENT", "InvalidReplicaAssignmentException";
    InvalidConfig = 40, "INVALID_CONFIG", "InvalidConfigurationException";
    NotController = 41, "NOT_CONTROLLER", "NotControllerException";
    InvalidRequest = 42, "INVALID_REQUEST", "InvalidRequestException";
    OutOfOrderSequenceNumber = 45, "OUT_OF_ORDER_SEQUENCE_NUMBER", "OutOfOrderSequenceException";
    DuplicateSequenceNumber = 46, "DUPLICATE_SEQUENCE_NUMBER", "DuplicateSequenceException";
    PolicyViolation = 44, "POLICY_VIOLATION", "PolicyViolationException";
    InvalidProducerEpoch = 47, "INVALID_PRODUCER_EPOCH", "InvalidProducerEpochException";
    OperationNotAttempted = 55, "OPERATION_NOT_ATTEMPTED", "OperationNotAttemptedException";
    KafkaStorageError = 56, "KAFKA_STORAGE_ERROR", "KafkaStorageException";
    NonEmptyGroup = 68, "NON_EMPTY_GROUP", "GroupNotEmptyException";
    GroupIdNotFound = 69, "GROUP_ID_NOT_FOUND", "GroupIdNotFoundException";
    FencedLeaderEpoch = 74, "FENCED_LEADER_EPOCH", "FencedLeaderEpochException";
    UnknownLeaderEpoch = 75, "UNKNOWN_LEADER_EPOCH", "UnknownLeaderEpochException";
    StaleBrokerEpoch = 77, "STALE_BROKER_EPOCH", "StaleBrokerEpochException";
    OffsetNotAvailable = 78, "OFFSET_NOT_AVAILABLE", "OffsetNotAvailableException";
    MemberIdRequired = 79, "MEMBER_ID_REQUIRED", "MemberIdRequiredException";
    PreferredLeaderNotAvailable = 80, "PREFERRED_LEADER_NOT_AVAILABLE", "PreferredLeaderNotAvailableException";
    GroupMaxSizeReached = 81, "GROUP_MAX_SIZE_REACHED", "GroupMaxSizeReachedException";
    FencedInstanceId = 82, "FENCED_INSTANCE_ID", "FencedInstanceIdException";
    EligibleLeadersNotAvailable = 83, "ELIGIBLE_LEADERS_NOT_AVAILABLE", "EligibleLeadersNotAvailableException";
    ElectionNotNeeded = 84, "ELECTION_NOT_NEEDED", "ElectionNotNeededException";
    InvalidUpdateVersion = 95, "INVALID_UPDATE_VERSION", "InvalidUpdateVersionException";
    UnknownTopicId = 100, "UNKNOWN_TOPIC_ID", "UnknownTopicIdException";
    DuplicateBrokerRegistration = 101, "DUPLICATE_BROKER_REGISTRATION", "DuplicateBrokerRegistrationException";
    BrokerIdNotRegistered = 102, "BROKER_ID_NOT_REGISTERED", "BrokerIdNotRegisteredException";
    InconsistentTopicId = 103, "INCONSISTENT_TOPIC_ID", "InconsistentTopicIdException";
    IneligibleReplica = 107, "INELIGIBLE_REPLICA", "IneligibleReplicaException";
    NewLeaderElected = 108, "NEW_LEADER_ELECTED", "NewLeaderElectedException";
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
