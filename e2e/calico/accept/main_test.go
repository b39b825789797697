package accept

import (
	"os"
	"testing"
)

// The test binary also runs as Calico's processes.
func TestMain(m *testing.M) {
	Main()
	os.Exit(m.Run())
}
