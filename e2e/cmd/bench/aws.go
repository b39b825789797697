package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/trellis-garden/trellis/e2e/internal/aws"
	"github.com/trellis-garden/trellis/e2e/internal/gardenlet"
	"github.com/trellis-garden/trellis/e2e/internal/landscape"
	"github.com/trellis-garden/trellis/e2e/internal/terminal"
)

// partAWS is the name of the part about AWS.
const partAWS = "aws"

// awsBench measures Infrastructures of AWS in one landscape.
type awsBench struct {
	bench
	aws     *aws.Clusters
	latency time.Duration
}

func benchAWS(ctx context.Context, screen *terminal.Screen, o options, into *results) (err error) {
	screen.Heading("Trellis: what an Infrastructure in AWS costs")
	record, err := readCounted()
	if err != nil {
		return err
	}
	l, err := landscape.Start(ctx, screen, landscape.Options{Cloud: aws.FakeReady(o.latency)})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, l.Stop()) }()
	l.Source.Gardenlet.Interval = 10 * time.Millisecond
	b := awsBench{bench: bench{Landscape: l, screen: screen}, aws: aws.In(l.Clusters), latency: o.latency}
	measured := &awsResult{Date: into.Date, Commit: into.Commit, Load: into.Machine.Load, LatencyMilliseconds: o.latency.Milliseconds()}
	for _, zones := range []int{1, 3} {
		operations, err := b.zones(ctx, zones)
		if err != nil {
			return err
		}
		measured.Operations = append(measured.Operations, operations...)
	}
	into.AWS = measured
	screen.Heading(fmt.Sprintf("One shoot in AWS, %d ms per call, cloud instantly ready", o.latency.Milliseconds()))
	b.print(awsTable(measured, record))
	screen.Linef("")
	b.print(awsNotes(measured, record))
	return overBudget(withinAWSBudgets(measured))
}

// zones measures the operations on a shoot with a number of zones.
func (b awsBench) zones(ctx context.Context, zones int) (operations []awsOperation, err error) {
	err = b.screen.Step("measuring", func(io.Writer) (string, error) {
		return "a shoot in " + count(zones, "zone"), b.whileControllerRuns(ctx, func(ctx context.Context) error {
			shoot := b.aws.Account.NewShootIn(fmt.Sprintf("zones-%d", zones), zones)
			if err := b.Source.Gardenlet.Prepare(ctx, shoot); err != nil {
				return err
			}
			for _, step := range []struct {
				row string
				do  func(context.Context, *gardenlet.Shoot) error
			}{{rowFirst, b.deploy}, {rowNoOp, b.deploy}, {rowDelete, b.destroy}} {
				taken, err := b.operation(ctx, func() error { return step.do(ctx, shoot) })
				if err != nil {
					return fmt.Errorf("measuring %s: %w", step.row, err)
				}
				operations = append(operations, newAWSOperation(zones, step.row, taken, b.latency))
			}
			return nil
		})
	})
	return operations, err
}

// operation measures one operation, with its calls that followed each other.
func (b awsBench) operation(ctx context.Context, do func() error) (cost, error) {
	if err := pause(ctx); err != nil {
		return cost{}, err
	}
	running := &spans{latency: b.latency}
	b.aws.Cloud.SetHook(running.record)
	defer b.aws.Cloud.SetHook(nil)
	taken, err := measure(b.aws.Cloud, do)
	taken.steps = running.steps()
	return taken, err
}
