package openstack

import (
	"encoding/json"
	"net/http"

	"github.com/trellis-garden/trellis/internal/cloud/transport"
)

// responseKind is the expected kind of a call's response. It determines the limits of the response.
type responseKind int

const (
	objectResponse responseKind = iota
	pageResponse
	tokenResponse
)

// limits returns the limits of a kind. An object of OpenStack has a few KiB, a page of a thousand objects one or two MiB, and a
// token with the catalog of a cloud of many regions some hundred KiB.
func (k responseKind) limits() transport.Limits {
	switch k {
	case pageResponse:
		return transport.Objects(8 << 20)
	case tokenResponse:
		return transport.Objects(2 << 20)
	default:
		return transport.Objects(1 << 20)
	}
}

// streamDecoder decodes a response incrementally, since it may be too large to be decoded at once.
type streamDecoder interface {
	decodeFrom(decoder *json.Decoder) error
}

// decodeResponse reads a successful response. A missing body is accepted for an object, but never for a list, which would appear empty.
func decodeResponse(response *http.Response, into any) error {
	decoder := json.NewDecoder(response.Body)
	if stream, ok := into.(streamDecoder); ok {
		return stream.decodeFrom(decoder)
	}
	if response.StatusCode == http.StatusNoContent {
		return nil
	}
	return decoder.Decode(into)
}
