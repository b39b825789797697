package conformance

func routerInterfaces() []Behaviour {
	return []Behaviour{}
}
