// Package machineimage selects, merges and validates the mappings that every cloud's CloudProfileConfig has of a CloudProfile's machine images.
//
// It must not know how a cloud names its images: callers describe their types with a Shape.
package machineimage
