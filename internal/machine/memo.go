package machine

import (
	"sync"
	"time"
)

// memoTTL is how long a look-up is kept. MCM requests a machine's status right before its creation.
const memoTTL = 10 * time.Second

// Memo keeps the result of looking up a machine's servers until MCM's next request for the machine, which needs the same result. Each entry is used once and
// expires after seconds. The zero value is empty. It is safe for concurrent use.
type Memo[T any] struct {
	mu      sync.Mutex
	entries map[string]memoEntry[T]
}

type memoEntry[T any] struct {
	value T
	at    time.Time
}

// Put keeps the result for a machine.
func (m *Memo[T]) Put(name string, value T) {
	m.mu.Lock()
	defer m.mu.Unlock()
	now := time.Now()
	for old, entry := range m.entries {
		if now.Sub(entry.at) > memoTTL {
			delete(m.entries, old)
		}
	}
	if m.entries == nil {
		m.entries = map[string]memoEntry[T]{}
	}
	m.entries[name] = memoEntry[T]{value: value, at: now}
}

// Take returns the result for a machine, and removes it.
func (m *Memo[T]) Take(name string) (T, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	entry, ok := m.entries[name]
	delete(m.entries, name)
	if !ok || time.Since(entry.at) > memoTTL {
		var none T
		return none, false
	}
	return entry.value, true
}
