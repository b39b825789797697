// Package idle tests what our controllers cost while nothing happens: shoots whose objects are healthy cost no request. Nothing but API servers and the
// controllers runs here; what others would write, the test writes.
package idle
