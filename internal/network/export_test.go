package network

import (
	"os"
	"testing"

	"github.com/trellis-garden/trellis/internal/contract/contracttest"
)

// sharedAPIServer is that of all tests that need one.
var sharedAPIServer contracttest.Shared

// APIServer is that of all tests that need one, those inside of the package and those outside.
func APIServer() *contracttest.Shared { return &sharedAPIServer }

func TestMain(m *testing.M) { os.Exit(sharedAPIServer.Run(m)) }
