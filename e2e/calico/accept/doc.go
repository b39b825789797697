// Package accept holds rendered objects against Calico's own code: Felix' and Typha's parsers, libcalico-go's client and
// validators, the start of calico-node, the installer of the CNI plugin, the plugin itself and its IPAM. It must not know
// how the objects are made: it reads them from files.
//
// What may end its process, or has fixed paths, runs as a process of its own: the test binary, started once more (see Main).
package accept
