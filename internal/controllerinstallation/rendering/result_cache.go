package rendering

import (
	"crypto/sha256"
	"slices"
	"sync"
	"time"
)

// resultCache keeps results, zipped, by a hash of their input. It is bounded by its size in bytes. When it is full, an arbitrary entry is evicted: if
// the oldest were evicted, a caller that reads all results in turn would never find one.
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

// entryOverhead is the approximate memory in bytes that an entry takes in addition to its result.
const entryOverhead = 256

func newResultCache(capacity int) *resultCache {
	return &resultCache{capacity: capacity, now: time.Now, results: map[hash]cachedResult{}}
}

// get returns nil if there is no entry.
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

// add keeps a result for a limited time, if it fits.
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

// drop removes the entry of a key, if there is one. The caller holds the lock.
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
