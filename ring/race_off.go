//go:build linux && !race

package ring

func kernelWrote([]byte) {}
func kernelRead([]byte)  {}
