package process

import (
	"net"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestFreeAddress_Available(t *testing.T) {
	address, err := FreeAddress()
	require.NoError(t, err)
	listener, err := net.Listen("tcp", address)
	require.NoError(t, err)
	require.NoError(t, listener.Close())
}

func TestFreeAddress_Unique(t *testing.T) {
	path := filepath.Join(t.TempDir(), "port")
	var reported sync.Map
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			for range 25 {
				address, err := nextFreeAddress("127.0.0.1", path)
				if !assert.NoError(t, err) {
					return
				}
				_, twice := reported.LoadOrStore(address, true)
				assert.False(t, twice, address)
			}
		})
	}
	group.Wait()
}

func TestFreeAddress_PortInUse(t *testing.T) {
	path := filepath.Join(t.TempDir(), "port")
	first, err := nextFreeAddress("127.0.0.1", path)
	require.NoError(t, err)
	listener, err := net.Listen("tcp", first)
	require.NoError(t, err)
	t.Cleanup(func() { _ = listener.Close() })
	require.NoError(t, os.Remove(path), "so that the search begins anew")
	second, err := nextFreeAddress("127.0.0.1", path)
	require.NoError(t, err)
	assert.NotEqual(t, first, second)
}

func TestFreeAddress_WrapAround(t *testing.T) {
	path := filepath.Join(t.TempDir(), "port")
	require.NoError(t, os.WriteFile(path, []byte("27999"), 0o600))
	address, err := nextFreeAddress("127.0.0.2", path)
	require.NoError(t, err)
	assert.Equal(t, "127.0.0.2:20000", address)
}

func TestFreeAddress_UnknownIP(t *testing.T) {
	_, err := nextFreeAddress("192.0.2.1", filepath.Join(t.TempDir(), "port"))
	assert.ErrorContains(t, err, "cannot assign requested address")
}
