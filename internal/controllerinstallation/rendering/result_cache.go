package rendering

import (
	"crypto/sha256"
	"slices"
	"sync"
	"time"
)

// resultCache is what was rendered, zipped, by a hash of its input. It is bounded by its size. When there is no more room, something goes, whatever that is: who
// asks for each result in turn would not find any again if the oldest went.
type resultCache struct {
	capacity int
	now      func() time.Time

	mutex   sync.Mutex
	size    int
	results map[hash]cachedResult
}

type hash = [sha256.Size]byte

type cachedResult struct {
	zipped []byte
	until  time.Time
}

// entryOverhead is about what a result takes beside its bytes.
const entryOverhead = 256

func newResultCache(capacity int) *resultCache {
	return &resultCache{capacity: capacity, now: time.Now, results: map[hash]cachedResult{}}
}

// get returns nil when there is nothing.
func (k *resultCache) get(key hash) []byte {
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
func (k *resultCache) add(key hash, zipped []byte, lifetime time.Duration) {
	k.mutex.Lock()
	defer k.mutex.Unlock()
	k.drop(key)
	size := len(zipped) + entryOverhead
	if size > k.capacity {
		return
	}
	for other := range k.results { // in no order
		if k.size+size <= k.capacity {
			break
		}
		k.drop(other)
	}
	k.results[key] = cachedResult{zipped: slices.Clone(zipped), until: k.now().Add(lifetime)} // a clone, since a buffer has room to grow
	k.size += size
}

// drop removes what is kept under a key, if anything is. The caller holds the lock.
func (k *resultCache) drop(key hash) {
	found, is := k.results[key]
	if !is {
		return
	}
	delete(k.results, key)
	k.size -= len(found.zipped) + entryOverhead
}

func (k *resultCache) len() int {
	k.mutex.Lock()
	defer k.mutex.Unlock()
	return len(k.results)
}
