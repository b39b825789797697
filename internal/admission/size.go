package admission

import (
	"bytes"
	"fmt"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// How many bytes a document may have. API servers take megabytes, which nobody writes, and a process that judges several at a time cannot afford.
const (
	// MaxShootConfig is for each document in a Shoot.
	MaxShootConfig = 64 << 10
	// MaxProjectProfileConfig is for what a project adds to a CloudProfile, MaxProfileConfig for what a CloudProfile says itself: an image in each of
	// some dozens of regions, hundreds of times.
	MaxProjectProfileConfig, MaxProfileConfig = 256 << 10, 1 << 20
)

// TooLarge says that a document is, before anybody decodes it. One that is there already goes on as it is: controllers know no bound.
func TooLarge(document, old *runtime.RawExtension, limit int, path *field.Path) field.ErrorList {
	if document == nil || len(document.Raw) <= limit || old != nil && bytes.Equal(document.Raw, old.Raw) {
		return nil
	}
	return field.ErrorList{{
		Type: field.ErrorTypeTooLong, Field: path.String(), BadValue: field.OmitValueType{},
		Detail: fmt.Sprintf("has %d bytes and may have %d: shorten its lists and texts", len(document.Raw), limit),
	}}
}
