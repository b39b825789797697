// Package idle tests what our controllers cost while nothing happens: memory, and no request for shoots whose objects are healthy. Nothing but API servers and the
// controllers runs here; what others would write, the test writes.
package idle
