package rendering

import (
	"bytes"
	"encoding/binary"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

func keyOf(n int) hash {
	var key hash
	binary.BigEndian.PutUint64(key[:], uint64(n))
	return key
}

// Each installation is looked at in turn, again and again.
func TestResultCache_Capacity(t *testing.T) {
	const size = 10 << 10
	result := bytes.Repeat([]byte("a"), size)
	for sentence, test := range map[string]struct{ installations, least int }{
		"as many as there were places for":         {1024, 1024},
		"many small ones, for which there is room": {20_000, 20_000},
		"more than there is room for":              {32_000, 10_000},
	} {
		t.Run(sentence, func(t *testing.T) {
			k := newResultCache(maxCacheSize)
			hits := 0
			for round := range 3 {
				hits = 0
				for n := range test.installations {
					if k.get(keyOf(n)) != nil {
						hits++
						continue
					}
					k.add(keyOf(n), result, time.Hour)
				}
				assert.LessOrEqual(t, k.size, maxCacheSize, "round %d", round)
			}
			assert.GreaterOrEqual(t, hits, test.least)
			assert.Equal(t, k.len()*(size+entryOverhead), k.size)
		})
	}
}

func TestResultCache_Expiry(t *testing.T) {
	now := time.Now()
	k := newResultCache(1000)
	k.now = func() time.Time { return now }
	k.add(keyOf(1), []byte("one"), time.Minute)
	k.add(keyOf(2), []byte("two"), time.Hour)
	now = now.Add(time.Minute)
	assert.Nil(t, k.get(keyOf(1)))
	assert.Equal(t, []byte("two"), k.get(keyOf(2)))
	assert.Equal(t, 3+entryOverhead, k.size)

	k.add(keyOf(2), []byte("again"), time.Hour)
	assert.Equal(t, []byte("again"), k.get(keyOf(2)))
	assert.Equal(t, 5+entryOverhead, k.size, "it replaces what was there")
	k.add(keyOf(3), make([]byte, 1000), time.Hour)
	assert.Nil(t, k.get(keyOf(3)), "for one there is no room")
	assert.NotNil(t, k.get(keyOf(2)), "and nothing goes for it")
}

func TestCacheCapacity(t *testing.T) {
	for container, want := range map[int64]int{0: 256 << 20, 8 << 30: 256 << 20, 2 << 30: 256 << 20, 1 << 30: 128 << 20, 256 << 20: 32 << 20} {
		assert.Equal(t, want, cacheCapacity(container), "a container with %d MiB", container>>20)
	}
}
