// Package worker leads the machines of shoots through their lives: the worker-controller as a process with the rights that it has,
// driven by gardenlet's component library; machine-controller-manager from Gardener's own Deployment, with our machine controller beside
// it where the webhook has put it, both with the rights that Gardener gives them; and a fake OpenStack behind. What runs on
// machines is simulated, see package nodes.
package worker
