package contract

import (
	"sync"

	"k8s.io/apimachinery/pkg/util/validation/field"
)

// Decoded holds what a driver has decoded from the inputs of one reconciliation, so that it decodes them once, however many of its methods the contract
// calls. The zero value holds nothing. It is safe for concurrent use.
type Decoded struct {
	mutex sync.Mutex
	value any
	errs  field.ErrorList
}

// DecodeOnce returns what the first call with the same Decoded has decoded, with its errors. Without a Decoded, and for another type, it decodes.
func DecodeOnce[T any](decoded *Decoded, decode func() (T, field.ErrorList)) (T, field.ErrorList) {
	if decoded == nil {
		return decode()
	}
	decoded.mutex.Lock()
	defer decoded.mutex.Unlock()
	if value, ok := decoded.value.(T); ok {
		return value, decoded.errs
	}
	value, errs := decode()
	decoded.value, decoded.errs = value, errs
	return value, errs
}
