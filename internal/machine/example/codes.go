package example

import (
	"errors"
	"net/http"

	cloudexample "github.com/trellis-garden/trellis/internal/cloud/example"
	machineprocess "github.com/trellis-garden/trellis/internal/machine"
)

// translate returns how errors of the cloud become MCM's.
func translate() machineprocess.Errors {
	return machineprocess.Errors{IsBadRequest: func(err error) bool {
		refused, ok := errors.AsType[*cloudexample.ResponseError](err)
		return ok && refused.Status == http.StatusUnprocessableEntity
	}}
}
