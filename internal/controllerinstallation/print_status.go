package controllerinstallation

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	v1beta1helper "github.com/gardener/gardener/pkg/api/core/v1beta1/helper"
	gardencorev1 "github.com/gardener/gardener/pkg/apis/core/v1"
	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/duration"
	"sigs.k8s.io/controller-runtime/pkg/client"

	installationv1alpha1 "github.com/trellis-garden/trellis/apis/installation/v1alpha1"
	"github.com/trellis-garden/trellis/internal/controllerinstallation/registered"
	"github.com/trellis-garden/trellis/internal/controllerinstallation/revision"
)

// PrintStatus writes two tables: the ControllerDeployments of the operator's type with their revisions, and their installations.
func PrintStatus(ctx context.Context, garden client.Client, out io.Writer) error {
	deployments := &gardencorev1.ControllerDeploymentList{}
	if err := garden.List(ctx, deployments); err != nil {
		return fmt.Errorf("listing ControllerDeployments: %w", err)
	}
	installations := &gardencorev1beta1.ControllerInstallationList{}
	if err := garden.List(ctx, installations); err != nil {
		return fmt.Errorf("listing ControllerInstallations: %w", err)
	}
	var names []string
	for i := range deployments.Items {
		if registered.IsOurs(&deployments.Items[i]) {
			names = append(names, deployments.Items[i].Name)
		}
	}
	if len(names) == 0 {
		_, err := fmt.Fprintf(out, "No ControllerDeployment has type %s.\n", installationv1alpha1.DeploymentType)
		return err
	}
	slices.Sort(names)
	return errors.Join(printDeployments(ctx, revision.Store{Client: garden}, names, out), printInstallations(names, installations.Items, out))
}

func printDeployments(ctx context.Context, store revision.Store, names []string, out io.Writer) error {
	table := newTable(out, "DEPLOYMENT", "NEWEST", "NUMBER", "RESULT", "SINCE", "LAST GOOD", "REASON")
	for _, name := range names {
		known, err := store.List(ctx, name)
		if err != nil {
			return err
		}
		if len(known) == 0 {
			table.row(name, "", "", "", "", "", "nothing was recorded: see condition Valid, or an operator in the seeds serves it")
			continue
		}
		lastGood := ""
		if i := slices.IndexFunc(known, func(info revision.Info) bool { return info.Result == revision.Good }); i >= 0 {
			lastGood = known[i].Name
		}
		table.row(name, known[0].Name, fmt.Sprint(known[0].Number), string(known[0].Result), age(known[0].Since), lastGood, known[0].Reason)
	}
	return table.flush()
}

func printInstallations(deployments []string, all []gardencorev1beta1.ControllerInstallation, out io.Writer) error {
	all = slices.DeleteFunc(all, func(i gardencorev1beta1.ControllerInstallation) bool {
		return i.Spec.SeedRef == nil || i.Spec.DeploymentRef == nil || !slices.Contains(deployments, i.Spec.DeploymentRef.Name)
	})
	slices.SortFunc(all, func(a, b gardencorev1beta1.ControllerInstallation) int {
		return cmp.Or(cmp.Compare(a.Spec.DeploymentRef.Name, b.Spec.DeploymentRef.Name), cmp.Compare(a.Spec.SeedRef.Name, b.Spec.SeedRef.Name))
	})
	if _, err := fmt.Fprintln(out); err != nil {
		return err
	}
	table := newTable(out, "INSTALLATION", "SEED", "BY", "WAVE", "REVISION", "TARGET", "PHASE", "AGE", "VALID", "INSTALLED", "HEALTHY", "PROGRESSING", "MESSAGE")
	for i := range all {
		table.row(cells(&all[i])...)
	}
	return table.flush()
}

func cells(installation *gardencorev1beta1.ControllerInstallation) []string {
	status, err := installationv1alpha1.DecodeControllerInstallationStatus(installation.Status.ProviderStatus)
	if err != nil {
		status = installationv1alpha1.NewControllerInstallationStatus()
	}
	target, message := status.TargetRevision, ""
	if assigned := installation.Annotations[installationv1alpha1.AnnotationRevision]; target == "" && assigned != status.Revision {
		target = assigned
	}
	if status.LastError != nil {
		message = status.LastError.Message
	}
	cells := []string{
		installation.Name, installation.Spec.SeedRef.Name, status.Operator, status.Wave, status.Revision, target, string(status.Phase),
		ageOf(status.AppliedAt),
	}
	for _, condition := range []gardencorev1beta1.ConditionType{
		gardencorev1beta1.ControllerInstallationValid, gardencorev1beta1.ControllerInstallationInstalled,
		gardencorev1beta1.ControllerInstallationHealthy, gardencorev1beta1.ControllerInstallationProgressing,
	} {
		found := v1beta1helper.GetCondition(installation.Status.Conditions, condition)
		if found == nil {
			found = &gardencorev1beta1.Condition{}
		}
		cells = append(cells, string(found.Status))
	}
	return append(cells, message)
}

func ageOf(t *metav1.Time) string {
	if t == nil {
		return ""
	}
	return age(t.Time)
}

// age formats the time since t as kubectl does; it is empty for the zero time.
func age(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return duration.HumanDuration(metav1.Now().Sub(t))
}

// table aligns columns.
type table struct{ writer *tabwriter.Writer }

func newTable(out io.Writer, header ...string) *table {
	t := &table{tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)}
	t.row(header...)
	return t
}

// row shows a dash for an empty cell, except in the last column.
func (t *table) row(cells ...string) {
	line := slices.Clone(cells)
	for i := range line[:len(line)-1] {
		line[i] = cmp.Or(line[i], "-")
	}
	last := len(line) - 1
	line[last] = strings.ReplaceAll(line[last], "\n", " ")
	fmt.Fprintln(t.writer, strings.Join(line, "\t"))
}

func (t *table) flush() error { return t.writer.Flush() }
