package admission

import (
	"bytes"
	"fmt"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// Maximum sizes of documents in bytes. API servers accept megabytes, which the process could not hold for several requests at a time.
const (
	// MaxShootConfig is for each document in a Shoot.
	MaxShootConfig = 64 << 10
	// MaxProjectProfileConfig is for the additions of a project to a CloudProfile, MaxProfileConfig for a CloudProfile itself: hundreds of images in
	// some dozens of regions.
	MaxProjectProfileConfig, MaxProfileConfig = 256 << 10, 1 << 20
)

// TooLarge returns an error for a document that exceeds its limit, before it is decoded. Existing documents are not affected:
// controllers have no limit.
func TooLarge(document, old *runtime.RawExtension, limit int, path *field.Path) field.ErrorList {
	if document == nil || len(document.Raw) <= limit || old != nil && bytes.Equal(document.Raw, old.Raw) {
		return nil
	}
	return field.ErrorList{{
		Type: field.ErrorTypeTooLong, Field: path.String(), BadValue: field.OmitValueType{},
		Detail: fmt.Sprintf("has %d bytes and may have %d: shorten its lists and texts", len(document.Raw), limit),
	}}
}
