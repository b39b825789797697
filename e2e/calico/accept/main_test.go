package accept

import (
	"os"
	"testing"
)

// The binary is also Calico's processes.
func TestMain(m *testing.M) {
	Main()
	os.Exit(m.Run())
}
