package network

import (
	"os"
	"testing"

	"github.com/trellis-garden/trellis/internal/contract/contracttest"
)

// apiServer is that of all tests that need one.
var apiServer contracttest.Shared

// APIServer is that of all tests that need one, those inside of the package and those outside.
func APIServer() *contracttest.Shared { return &apiServer }

func TestMain(m *testing.M) { os.Exit(apiServer.Run(m)) }
