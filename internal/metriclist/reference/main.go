// Command reference writes docs/reference/metrics.md: the metrics that the binaries serve, as the binaries and the libraries tell them. It must not
// know any metric of ours.
package main

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/trellis-garden/trellis/internal/metriclist"
)

//go:generate go run . -root ../../.. -o docs/reference/metrics.md

// toolPrefix begins the names of commands for admins, which serve no metrics.
const toolPrefix = "trellis-"

func main() {
	root := flag.String("root", ".", "root of the repository")
	path := flag.String("o", "", "file to write, relative to the root; standard output unless given")
	flag.Parse()
	if err := run(context.Background(), *root, *path); err != nil {
		fmt.Fprintln(os.Stderr, "reference:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, root, path string) error {
	own, err := metricsOfBinaries(ctx, root)
	if err != nil {
		return err
	}
	libraries, err := metricsOfLibraries(ctx)
	if err != nil {
		return err
	}
	apiServers, err := metricsOfAPIServers(ctx)
	if err != nil {
		return err
	}
	content, err := page(own, libraries, apiServers)
	if err != nil {
		return err
	}
	if path == "" {
		_, err = os.Stdout.WriteString(content)
		return err
	}
	if err := os.WriteFile(filepath.Join(root, path), []byte(content), 0o644); err != nil { //nolint:gosec // a page of the documentation
		return fmt.Errorf("writing the page: %w", err)
	}
	return nil
}

// binaryMetrics are the metrics of one binary.
type binaryMetrics struct {
	binary  string
	metrics []metriclist.Metric
}

// metricsOfBinaries builds all binaries of the root module and lets each of them list its metrics, in the order of their names. The metrics of the others, which link
// components of Kubernetes, are those components' own.
func metricsOfBinaries(ctx context.Context, root string) ([]binaryMetrics, error) {
	scratch, err := os.MkdirTemp("", "metrics-")
	if err != nil {
		return nil, fmt.Errorf("building the binaries: %w", err)
	}
	defer os.RemoveAll(scratch) //nolint:errcheck // a temporary folder
	folders, err := os.ReadDir(filepath.Join(root, "cmd"))
	if err != nil {
		return nil, fmt.Errorf("reading the names of binaries: %w", err)
	}
	build := exec.CommandContext(ctx, "go", "build", "-buildvcs=false", "-ldflags", "-s -w", "-o", scratch+"/") //nolint:gosec // a temporary folder
	build.Dir, build.Stderr = root, os.Stderr
	var names []string
	for _, folder := range folders {
		_, err := os.Stat(filepath.Join(root, "cmd", folder.Name(), "go.mod"))
		if folder.IsDir() && !strings.HasPrefix(folder.Name(), toolPrefix) && os.IsNotExist(err) {
			names = append(names, folder.Name())
			build.Args = append(build.Args, "./cmd/"+folder.Name())
		}
	}
	if err := build.Run(); err != nil {
		return nil, fmt.Errorf("building the binaries: %w", err)
	}
	all := make([]binaryMetrics, 0, len(names))
	for _, name := range names {
		var printed, problems bytes.Buffer
		list := exec.CommandContext(ctx, filepath.Join(scratch, name), "--list-metrics") //nolint:gosec // the binaries are our own
		list.Stdout, list.Stderr = &printed, &problems
		if err := list.Run(); err != nil {
			return nil, fmt.Errorf("%s --list-metrics: %w\n%s", name, err, problems.String())
		}
		metrics, err := metriclist.Read(&printed)
		if err != nil {
			return nil, fmt.Errorf("%s --list-metrics: %w", name, err)
		}
		all = append(all, binaryMetrics{binary: name, metrics: metrics})
	}
	return all, nil
}
