// Package remote holds the parts that transports have in common whose peers cannot
// address each other's memory: the registration table of exposed segments, the
// descriptors of peers' segments, pending requests, refusals (negative
// acknowledgements), the state of a peer, and the hand-over of progress between
// callers that poll and the transport's thread.
//
// It sends and receives nothing. Package tcp adds connections and frames, package
// rdma a fabric and its flow control. Package loopback uses the registration table
// alone.
package remote
