package webhook

import (
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"sync"
)

// memory bounds the bytes of all requests that the process holds at once, and has no address take what others need.
type memory struct {
	size int

	mutex sync.Mutex
	used  int
	// byAddress is how much of used is held for which address; those without are not in it.
	byAddress map[string]int
}

func newMemory(size int) *memory { return &memory{size: size, byAddress: map[string]int{}} }

// acquire reports whether there is room for n bytes more. Then give has to follow. An address never holds more than it leaves free: one alone gets half of the
// memory, two a third each, and so on. So there is always room for another one.
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

// The size of the pieces in which a body is kept: as large as all before it together, within these bounds. So a request takes about twice the memory of
// what was sent at most, and is never copied.
const (
	minChunk = 8 << 10
	maxChunk = 512 << 10
)

// requestBody is what was received of a request's body.
type requestBody struct {
	memory  *memory
	address string
	chunks  net.Buffers
	// acquired is how much memory is taken for it.
	acquired int
}

// read reports whether the body was read to its end. What is longer than maxBody is not. The body that there is no room for is read as well, but not
// kept, for callers that read no answer before they have sent everything.
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

// fill is io.ReadFull, but for errors: they are the reader's own. To net/http io.ErrUnexpectedEOF means that the connection was lost.
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

// remoteAddress returns where a request comes from, without the port.
func remoteAddress(request *http.Request) string {
	if host, _, err := net.SplitHostPort(request.RemoteAddr); err == nil {
		return host
	}
	return request.RemoteAddr
}
