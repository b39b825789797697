package contract

import "sync"

// Decoded holds what a driver has decoded from the inputs of one reconciliation, so that it decodes them once, however many of its methods the contract
// calls. The zero value holds nothing. It is safe for concurrent use.
type Decoded struct {
	mutex sync.Mutex
	value any
}

// DecodeOnce returns what the first call with the same Decoded has decoded. Without a Decoded, and for another type, it decodes.
func DecodeOnce[T any](decoded *Decoded, decode func() T) T {
	if decoded == nil {
		return decode()
	}
	decoded.mutex.Lock()
	defer decoded.mutex.Unlock()
	if value, ok := decoded.value.(T); ok {
		return value
	}
	value := decode()
	decoded.value = value
	return value
}
