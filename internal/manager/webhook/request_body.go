package webhook

import (
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"sync"
)

// memory bounds the bytes of all requests in memory, and the share of a single address.
type memory struct {
	size int

	mutex sync.Mutex
	used  int
	// byAddress is the part of used by address.
	byAddress map[string]int
}

func newMemory(size int) *memory { return &memory{size: size, byAddress: map[string]int{}} }

// acquire reports whether it reserved n more bytes. The caller then has to call release. An address never holds more than it leaves free: a single
// one gets half of the memory, two a third each, and so on. So there is always memory left for another address.
func (m *memory) acquire(address string, n int) bool {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	if m.byAddress[address]+n > m.size-m.used-n {
		return false
	}
	m.used += n
	m.byAddress[address] += n
	return true
}

func (m *memory) release(address string, n int) {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	m.used -= n
	if m.byAddress[address] -= n; m.byAddress[address] == 0 {
		delete(m.byAddress, address)
	}
}

// Bounds of the size of the chunks of a body: each chunk is as large as all before it together, within these bounds. So a request takes at most about
// twice the memory of what was sent, and is never copied.
const (
	minChunk = 8 << 10
	maxChunk = 512 << 10
)

// requestBody is the received part of a request's body.
type requestBody struct {
	memory  *memory
	address string
	chunks  net.Buffers
	// acquired is the memory reserved for it, in bytes.
	acquired int
}

// read reads up to maxBody bytes and reports whether the body was read. A body that exceeds the memory limit is read and discarded, for callers that
// read no response before they have sent everything.
func (r *requestBody) read(body io.Reader) (complete bool, err error) {
	for length := 0; length < maxBody; {
		size := min(max(length, minChunk), maxChunk, maxBody-length)
		if !r.memory.acquire(r.address, size) {
			r.free()
			return discard(body, int64(maxBody-length))
		}
		r.acquired += size
		chunk := make([]byte, size)
		n, err := fill(chunk, body)
		r.chunks = append(r.chunks, chunk[:n])
		length += n
		if errors.Is(err, io.EOF) {
			return true, nil
		}
		if err != nil {
			return false, fmt.Errorf("reading the request's body: %w", err)
		}
	}
	return false, nil
}

// fill is io.ReadFull, but returns the reader's own errors: for net/http, io.ErrUnexpectedEOF means that the connection was lost.
func fill(chunk []byte, body io.Reader) (n int, err error) {
	for n < len(chunk) && err == nil {
		var more int
		more, err = body.Read(chunk[n:])
		n += more
	}
	return n, err
}

func discard(body io.Reader, limit int64) (complete bool, err error) {
	n, err := io.Copy(io.Discard, io.LimitReader(body, limit))
	return err == nil && n < limit, errBusy
}

func (r *requestBody) free() {
	r.memory.release(r.address, r.acquired)
	r.chunks, r.acquired = nil, 0
}

// remoteAddress returns the address that a request comes from, without the port.
func remoteAddress(request *http.Request) string {
	if host, _, err := net.SplitHostPort(request.RemoteAddr); err == nil {
		return host
	}
	return request.RemoteAddr
}
