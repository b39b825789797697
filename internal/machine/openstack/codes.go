package openstack

import (
	"errors"
	"net/http"

	"github.com/trellis-garden/trellis/internal/cloud"
	cloudopenstack "github.com/trellis-garden/trellis/internal/cloud/openstack"
	machineprocess "github.com/trellis-garden/trellis/internal/machine"
)

// translate returns how errors of OpenStack become MCM's.
func translate() machineprocess.Errors {
	return machineprocess.Errors{IsBadRequest: isBadRequest, Remedies: map[cloud.Kind]string{
		cloud.Unauthorized:  "give the user of the credentials the role for it in the project",
		cloud.QuotaExceeded: "raise the project's quota, or lower the maximum of the pools",
		cloud.Depleted:      "extend what is used up, or lower the maximum of the pools",
	}}
}

// isBadRequest reports whether a service rejected a request as invalid.
func isBadRequest(err error) bool {
	fault, ok := errors.AsType[*cloudopenstack.ResponseError](err)
	return ok && (fault.Status == http.StatusBadRequest || fault.Status == http.StatusUnprocessableEntity)
}
