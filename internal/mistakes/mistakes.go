// Package mistakes tells what is wrong with a document, to people: admission when it is written, controllers when they are to fulfil it. It knows
// neither documents nor who reads them.
package mistakes

import (
	"fmt"
	"reflect"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/trellis-garden/trellis/internal/truncate"
)

const (
	// most is how many are told. Documents have room for many thousands, and putting them into one message takes the square of their number.
	most = 50
	// maxValue is how many bytes of a wrong value are shown.
	maxValue = 256
)

// Readable is as many of the mistakes as somebody reads, and one that tells how many there are besides.
func Readable(errs field.ErrorList) field.ErrorList {
	told := make(field.ErrorList, 0, most+1)
	for i, mistake := range errs {
		if i == most {
			told = append(told, &field.Error{
				Type: field.ErrorTypeInvalid, Field: mistake.Field, BadValue: field.OmitValueType{},
				Detail: fmt.Sprintf("here and behind are %d mistakes more: correct the others first", len(errs)-most),
			})
			break
		}
		told = append(told, shortened(mistake))
	}
	return told
}

// Error is one error that tells of all that Readable leaves; nil when there are no mistakes.
func Error(errs field.ErrorList) error {
	if len(errs) == 0 {
		return nil // and not an interface of one
	}
	return Readable(errs).ToAggregate()
}

func shortened(mistake *field.Error) *field.Error {
	value := reflect.ValueOf(mistake.BadValue)
	if value.Kind() != reflect.String || value.Len() <= maxValue {
		return mistake
	}
	short := *mistake
	short.BadValue = truncate.Text(value.String(), maxValue)
	return &short
}
