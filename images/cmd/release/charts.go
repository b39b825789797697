package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/google/go-containerregistry/pkg/authn"
	"github.com/google/go-containerregistry/pkg/v1/remote"

	"github.com/trellis-garden/trellis/images/helmchart"
	"github.com/trellis-garden/trellis/images/internal/attestation"
	"github.com/trellis-garden/trellis/images/internal/builder"
)

// chartDigestsFile is the list of the charts' names with their digests, one a line.
const chartDigestsFile = "chart-digests.txt"

// publishCharts is the command charts.
func publishCharts(ctx context.Context, o options, out io.Writer) error {
	r, err := newRelease(ctx, o, out)
	if err != nil {
		return err
	}
	defer r.close()
	if err := r.pushCharts(ctx); err != nil {
		return err
	}
	list, err := filepath.Abs(filepath.Join(o.images.Out, chartDigestsFile)) // make registrations runs in another folder
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "\nCharts and %s are in %s. To register them by digest:\n  make registrations VERSION=%s OUT=<folder> ARGS=\"--chart-repository %s --chart-digests %s\"\n",
		chartDigestsFile, o.images.Out, o.images.Version, r.chartRepository(), list)
	return nil
}

func (r *release) chartRepository() string { return r.images.Repository + "/charts" }

// pushCharts packs all charts of the catalogue and pushes them.
func (r *release) pushCharts(ctx context.Context) error {
	r.logf("packing charts")
	// Registrations by digest are written when the digests are known.
	if err := r.generate(ctx, "--out", filepath.Join(r.scratch, "registrations"), "--charts", r.images.Out); err != nil {
		return err
	}
	archives, err := filepath.Glob(filepath.Join(r.images.Out, "*.tgz"))
	if err != nil {
		return err
	}
	var lines strings.Builder
	for _, archive := range archives {
		line, err := r.pushChart(ctx, archive)
		if err != nil {
			return fmt.Errorf("chart %s: %w", filepath.Base(archive), err)
		}
		fmt.Fprintln(&lines, line)
	}
	return r.write(chartDigestsFile, []byte(lines.String()), true)
}

// pushChart returns the chart's name with its digest.
func (r *release) pushChart(ctx context.Context, archive string) (string, error) {
	content, err := os.ReadFile(archive)
	if err != nil {
		return "", err
	}
	chart, err := helmchart.Read(content)
	if err != nil {
		return "", err
	}
	r.logf("pushing %s/%s:%s", r.chartRepository(), chart.Name, chart.Tag())
	login := remote.WithAuthFromKeychain(authn.DefaultKeychain)
	ref, digest, err := chart.Push(ctx, r.chartRepository(), r.checkout.created, login)
	if err != nil {
		return "", err
	}
	r.charts = append(r.charts, ref)
	if r.key == nil {
		return ref + "@" + digest, nil
	}
	attestations, err := attestation.New(*r.key, attestation.Subject{
		Repository: strings.TrimSuffix(ref, ":"+chart.Tag()), Digest: digest,
		Provenance: r.origin().Provenance("charts", map[string]any{"chart": chart.Name}),
	})
	if err != nil {
		return "", err
	}
	return ref + "@" + digest, attestations.Push(ctx, ref, login)
}

func (r *release) origin() attestation.Origin {
	return attestation.Origin{Module: r.module.Path, Version: r.images.Version, Commit: r.images.Commit, Date: r.images.Date}
}

// generate runs the charts module's own program, which this module must not link. It is built once.
func (r *release) generate(ctx context.Context, args ...string) error {
	program := filepath.Join(r.scratch, "generate")
	if _, err := os.Stat(program); err != nil {
		charts, err := builder.ReadModule(ctx, filepath.Join(r.images.Source, "charts"))
		if err != nil {
			return err
		}
		if _, err := charts.Go(ctx, []string{"CGO_ENABLED=0"}, "build", "-buildvcs=false", "-o", program, "./cmd/registrations"); err != nil {
			return err
		}
	}
	args = append([]string{
		"generate", "--version", r.images.Version, "--chart-repository", r.chartRepository(), "--image-repository", r.images.Repository,
	}, args...)
	command := exec.CommandContext(ctx, program, args...) //nolint:gosec // the program is our own
	var problems bytes.Buffer
	command.Stderr = &problems
	if err := command.Run(); err != nil {
		return fmt.Errorf("generating registrations: %w\n%s", err, problems.String())
	}
	return nil
}
