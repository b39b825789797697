package rendering

import (
	"crypto/sha256"
	"slices"
	"sync"
	"time"
)

// kept is what was rendered, zipped, by a hash of its input. It is bounded by its size. When there is no more room, something goes, whatever that is: who
// asks for each result in turn would not find any again if the oldest went.
type kept struct {
	room int
	now  func() time.Time

	mutex   sync.Mutex
	size    int
	results map[hash]keptResult
}

type hash = [sha256.Size]byte

type keptResult struct {
	zipped []byte
	until  time.Time
}

// sizeOfEntry is about what a result takes beside its bytes.
const sizeOfEntry = 256

func newKept(room int) *kept { return &kept{room: room, now: time.Now, results: map[hash]keptResult{}} }

// get returns nil when there is nothing.
func (k *kept) get(key hash) []byte {
	k.mutex.Lock()
	defer k.mutex.Unlock()
	found, is := k.results[key]
	if is && !k.now().Before(found.until) {
		k.drop(key)
		return nil
	}
	return found.zipped
}

// add keeps a result for some time, if there is room for it.
func (k *kept) add(key hash, zipped []byte, lifetime time.Duration) {
	k.mutex.Lock()
	defer k.mutex.Unlock()
	k.drop(key)
	size := len(zipped) + sizeOfEntry
	if size > k.room {
		return
	}
	for other := range k.results { // in no order
		if k.size+size <= k.room {
			break
		}
		k.drop(other)
	}
	k.results[key] = keptResult{zipped: slices.Clone(zipped), until: k.now().Add(lifetime)} // a clone, since a buffer has room to grow
	k.size += size
}

// drop removes what is kept under a key, if anything is. The caller holds the lock.
func (k *kept) drop(key hash) {
	found, is := k.results[key]
	if !is {
		return
	}
	delete(k.results, key)
	k.size -= len(found.zipped) + sizeOfEntry
}

func (k *kept) len() int {
	k.mutex.Lock()
	defer k.mutex.Unlock()
	return len(k.results)
}
