package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	extensionsv1alpha1 "github.com/gardener/gardener/pkg/apis/extensions/v1alpha1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/trellis-garden/trellis/e2e/internal/terminal"
)

const (
	interval = 50 * time.Millisecond
	barWidth = 20
	columns  = "  %-22s %-10s %-11s %s %5s  %s"
	// maxDescription is how much of a description is shown; the rest is in the object.
	maxDescription = 110
)

// shownObject is an extension object that is shown while somebody works on it.
type shownObject struct {
	// name is how it is called on the screen.
	name string
	get  func(context.Context) (extensionsv1alpha1.Object, error)
}

// show does something and shows the objects meanwhile that somebody works on: on a terminal as a table that is refreshed in place,
// else as a line for everything that changes.
func (d *demo) show(ctx context.Context, objects []shownObject, do func(context.Context) error) error {
	last := rowsOf(ctx, objects)
	done := make(chan error, 1)
	go func() { done <- do(ctx) }()

	heading := d.screen.Styled(terminal.Dim, fmt.Sprintf(columns, "OBJECT", "OPERATION", "STATE", pad("PROGRESS", barWidth), "", "TASK"))
	block := d.screen.Block()
	for {
		select {
		case err := <-done:
			block.End(d.lastRows(ctx, objects, heading, last)...)
			return err
		case <-time.After(interval):
		}
		rows := rowsOf(ctx, objects)
		if changed := changedRows(rows, last); !d.screen.IsLive() {
			for _, row := range changed {
				d.screen.Linef("%s", row)
			}
		} else if len(changed) > 0 {
			block.Update(append([]string{heading}, rows...)...)
		}
		last = rows
	}
}

// changedRows returns the rows that say something else than before.
func changedRows(rows, last []string) (changed []string) {
	for i, row := range rows {
		if row != "" && row != last[i] {
			changed = append(changed, row)
		}
	}
	return changed
}

// lastRows is what stays on the screen.
func (d *demo) lastRows(ctx context.Context, objects []shownObject, heading string, last []string) []string {
	rows := rowsOf(ctx, objects)
	if !d.screen.IsLive() {
		return changedRows(rows, last)
	}
	for i, row := range rows {
		if row == "" {
			rows[i] = fmt.Sprintf("  %s is gone", objects[i].name)
		}
	}
	return append(append([]string{heading}, rows...), "")
}

func rowsOf(ctx context.Context, objects []shownObject) []string {
	rows := make([]string, len(objects))
	for i, object := range objects {
		rows[i] = object.row(ctx)
	}
	return rows
}

// row describes the object as it is now, or nothing when it does not exist or nobody looks any more.
func (w shownObject) row(ctx context.Context) string {
	object, err := w.get(ctx)
	if apierrors.IsNotFound(err) || ctx.Err() != nil {
		return ""
	}
	if err != nil {
		return "  " + err.Error()
	}
	return rowOf(w.name, object.GetExtensionStatus().GetLastOperation())
}

func rowOf(name string, operation *gardencorev1beta1.LastOperation) string {
	if operation == nil {
		operation = &gardencorev1beta1.LastOperation{Type: "-", State: gardencorev1beta1.LastOperationStatePending}
	}
	return strings.TrimRight(fmt.Sprintf(columns, name, operation.Type, operation.State,
		bar(operation.Progress), fmt.Sprintf("%d %%", operation.Progress), cut(operation.Description, maxDescription)), " ")
}

// cut shortens a text to a number of characters.
func cut(text string, most int) string {
	if characters := []rune(text); len(characters) > most {
		return string(characters[:most-1]) + "…"
	}
	return text
}

func bar(percent int32) string {
	full := int(percent) * barWidth / 100
	return strings.Repeat("█", full) + strings.Repeat("░", barWidth-full)
}

// pad fills a text up to a number of characters.
func pad(text string, width int) string { return text + strings.Repeat(" ", max(0, width-len(text))) }
