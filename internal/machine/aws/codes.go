package aws

import (
	"errors"
	"net/http"

	"github.com/trellis-garden/trellis/internal/cloud"
	cloudaws "github.com/trellis-garden/trellis/internal/cloud/aws"
	machineprocess "github.com/trellis-garden/trellis/internal/machine"
)

// translate returns how errors of AWS become MCM's.
func translate() machineprocess.Errors {
	return machineprocess.Errors{IsBadRequest: isBadRequest, Remedies: map[cloud.Kind]string{
		cloud.Unauthorized:  "allow it by the policies of the user or role",
		cloud.QuotaExceeded: "raise the quota of the account in this region, or lower the maximum of the pools",
		cloud.Depleted:      "choose another machine type or zone, or try again later",
	}}
}

// isBadRequest reports whether a service rejected a request as invalid.
func isBadRequest(err error) bool {
	fault, ok := errors.AsType[*cloudaws.ResponseError](err)
	return ok && fault.Status == http.StatusBadRequest
}
