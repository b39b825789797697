package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"

	"github.com/trellis-garden/trellis/e2e/internal/kindcluster"
	"github.com/trellis-garden/trellis/e2e/internal/nodeimage"
)

func thisMachine() machine {
	return machine{
		run: execute,
		read: func(path string) (string, error) {
			content, err := os.ReadFile(path)
			return string(content), err
		},
		exists: func(path string) bool {
			_, err := os.Stat(path)
			return err == nil
		},
		free:  free,
		image: nodeimage.Present, registry: nodeimage.RegistryReachable,
		root: os.Geteuid() == 0, all: kindcluster.RootHasAllRights(),
	}
}

func execute(ctx context.Context, name string, args ...string) (string, error) {
	var stdout, stderr strings.Builder
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Run()
	if err != nil {
		err = fmt.Errorf("%s: %w", strings.TrimSpace(stderr.String()), err)
	}
	return strings.TrimSpace(stdout.String()), err
}

func free(path string) (uint64, error) {
	var stat syscall.Statfs_t
	if err := syscall.Statfs(path, &stat); err != nil {
		return 0, fmt.Errorf("asking for the space at %s: %w", path, err)
	}
	return stat.Bavail * uint64(stat.Bsize), nil
}
