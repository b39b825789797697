package networktest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/trellis-garden/trellis/internal/network"
)

// checkedDriver calls each method of a driver twice, and records violations when it is not pure or breaks its contract.
type checkedDriver struct {
	driver network.Driver

	mutex      sync.Mutex
	violations []string
}

var _ network.Driver = (*checkedDriver)(nil)

func (d *checkedDriver) violatef(format string, args ...any) {
	d.mutex.Lock()
	defer d.mutex.Unlock()
	if violation := fmt.Sprintf(format, args...); !slices.Contains(d.violations, violation) {
		d.violations = append(d.violations, violation)
	}
}

// Violations returns the violations so far.
func (d *checkedDriver) Violations() []string {
	d.mutex.Lock()
	defer d.mutex.Unlock()
	return slices.Clone(d.violations)
}

// callTwice calls twice, and compares the results and the inputs.
func callTwice[T any](d *checkedDriver, method string, inputs func() []byte, call func() (T, error)) (T, error) {
	before := inputs()
	result, err := call()
	first := encodeJSON(result, fmt.Sprint(err))
	again, errAgain := call()
	if second := encodeJSON(again, fmt.Sprint(errAgain)); !bytes.Equal(first, second) {
		d.violatef("%s answers the same question differently: %s", method, difference(first, second))
	}
	if after := inputs(); !bytes.Equal(before, after) {
		d.violatef("%s changes its inputs: %s", method, difference(before, after))
	}
	return result, err
}

// Capabilities implements network.Driver.
func (d *checkedDriver) Capabilities(shoot *network.Shoot) network.Capabilities {
	capabilities, _ := callTwice(d, "Capabilities", func() []byte { return encodeShoot(shoot) }, func() (network.Capabilities, error) { return d.driver.Capabilities(shoot), nil })
	return capabilities
}

// Validate implements network.Driver.
func (d *checkedDriver) Validate(shoot *network.Shoot) field.ErrorList {
	problems, _ := callTwice(d, "Validate", func() []byte { return encodeShoot(shoot) }, func() (field.ErrorList, error) { return d.driver.Validate(shoot), nil })
	return problems
}

// Render implements network.Driver.
func (d *checkedDriver) Render(shoot *network.Shoot) (*network.Rendering, error) {
	rendering, err := callTwice(d, "Render", func() []byte { return encodeShoot(shoot) }, func() (*network.Rendering, error) { return d.driver.Render(shoot) })
	if err != nil {
		d.violatef("Render fails although Validate has accepted the shoot: %s", err)
		return nil, err
	}
	d.inspect("Render", rendering)
	return rendering, nil
}

// Transition implements network.Driver.
func (d *checkedDriver) Transition(shoot *network.Shoot, wanted *network.Rendering) (*network.Stage, error) {
	stage, err := callTwice(d, "Transition", func() []byte { return slices.Concat(encodeShoot(shoot), encodeJSON(wanted)) }, func() (*network.Stage, error) { return d.driver.Transition(shoot, wanted) })
	if err != nil || stage == nil {
		return stage, err
	}
	if stage.Name == "" || stage.Rendering == nil {
		d.violatef("Transition returns a stage without a name, or without a rendering")
		return stage, err
	}
	d.inspect("Transition", stage.Rendering)
	return stage, nil
}

// encodeShoot returns the part of a shoot that can be encoded.
func encodeShoot(shoot *network.Shoot) []byte {
	return encodeJSON(struct {
		network.Shoot
		Image any
	}{Shoot: *shoot})
}

// inspect checks one rendering.
func (d *checkedDriver) inspect(method string, rendering *network.Rendering) {
	var form any
	encoded := encodeJSON(rendering.Form)
	if err := json.Unmarshal(encoded, &form); err != nil || form == nil {
		d.violatef("%s returns a form that nobody can keep: %s", method, encoded)
	}
	if rendering.Status != nil && rendering.Status.GetObjectKind().GroupVersionKind().Empty() {
		d.violatef("%s returns a status without a kind", method)
	}
	for _, object := range slices.Concat(rendering.Shoot, rendering.Seed) {
		if secret, ok := asSecret(object); ok && len(secret.Data)+len(secret.StringData) > 0 {
			d.violatef("%s returns Secret %s, and may hold no credentials", method, object.GetName())
		}
		if text := encodeJSON(object); bytes.Contains(text, []byte("PRIVATE KEY-----")) {
			d.violatef("%s returns %T %s with a private key", method, object, object.GetName())
		}
	}
}

func asSecret(object client.Object) (*corev1.Secret, bool) {
	if generic, ok := object.(*unstructured.Unstructured); ok && generic.GetKind() == "Secret" {
		secret := &corev1.Secret{}
		err := runtime.DefaultUnstructuredConverter.FromUnstructured(generic.Object, secret)
		return secret, err == nil
	}
	secret, ok := object.(*corev1.Secret)
	return secret, ok
}

// encodeJSON returns values as JSON. A value that cannot be encoded gives a different text each time.
func encodeJSON(things ...any) []byte {
	var all [][]byte
	for _, thing := range things {
		text, err := json.Marshal(thing)
		if err != nil {
			text = fmt.Appendf(nil, "%p: %s", &err, err)
		}
		all = append(all, text)
	}
	return bytes.Join(all, []byte("\n"))
}

// difference returns where two texts begin to differ.
func difference(one, other []byte) string {
	const before, shown = 60, 120
	at := 0
	for at < min(len(one), len(other)) && one[at] == other[at] {
		at++
	}
	from := max(0, at-before)
	return strings.Join([]string{string(one[from:min(len(one), from+shown)]), string(other[from:min(len(other), from+shown)])}, " | ")
}
