// Command fakegpu is a device plugin for GPUs that do not exist: the kubelet takes it for the real one, hands out its
// devices one container at a time, and sees them fail when their names are written to a file.
//
//	fakegpu -n 8 -resource nvidia.com/gpu -dead FILE
//
// FILE lists, one a line, the devices that are broken now. It is read every second and need not exist.
package main

import (
	"context"
	"flag"
	"fmt"
	"log"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	api "k8s.io/kubelet/pkg/apis/deviceplugin/v1beta1"
)

const poll = time.Second

type plugin struct {
	api.UnimplementedDevicePluginServer
	count int
	dead  string
}

func (p plugin) devices() []*api.Device {
	text, _ := os.ReadFile(p.dead) // No file: none is broken.
	broken := strings.Fields(string(text))
	var devices []*api.Device
	for i := range p.count {
		device := &api.Device{ID: fmt.Sprintf("fake-%02d", i), Health: api.Healthy}
		if slices.Contains(broken, device.ID) {
			device.Health = api.Unhealthy
		}
		devices = append(devices, device)
	}
	return devices
}

func (plugin) GetDevicePluginOptions(context.Context, *api.Empty) (*api.DevicePluginOptions, error) {
	return &api.DevicePluginOptions{}, nil
}

// ListAndWatch sends the devices once and again whenever the health of one has changed.
func (p plugin) ListAndWatch(_ *api.Empty, stream api.DevicePlugin_ListAndWatchServer) error {
	var sent []*api.Device
	same := func(a, b *api.Device) bool { return a.Health == b.Health }
	for {
		if now := p.devices(); !slices.EqualFunc(now, sent, same) {
			if err := stream.Send(&api.ListAndWatchResponse{Devices: now}); err != nil {
				return err
			}
			sent = now
		}
		select {
		case <-stream.Context().Done():
			return nil
		case <-time.After(poll):
		}
	}
}

func (plugin) Allocate(_ context.Context, request *api.AllocateRequest) (*api.AllocateResponse, error) {
	answer := &api.AllocateResponse{}
	for _, container := range request.ContainerRequests {
		answer.ContainerResponses = append(answer.ContainerResponses, &api.ContainerAllocateResponse{
			Envs: map[string]string{"NVIDIA_VISIBLE_DEVICES": strings.Join(container.DevicesIds, ",")},
		})
	}
	return answer, nil
}

// serve answers on the socket, tells the kubelet of it, and returns when the socket is gone: a kubelet that starts
// removes all sockets and wants every plugin to register again.
func serve(p plugin, directory, resource string) error {
	socket := filepath.Join(directory, "kastor-fake.sock")
	if err := os.Remove(socket); err != nil && !os.IsNotExist(err) {
		return err
	}
	listener, err := net.Listen("unix", socket)
	if err != nil {
		return err
	}
	server := grpc.NewServer()
	defer server.Stop()
	api.RegisterDevicePluginServer(server, p)
	go func() { _ = server.Serve(listener) }()
	if err := register(directory, filepath.Base(socket), resource); err != nil {
		return err
	}
	log.Printf("registered %d devices as %s", p.count, resource)
	for {
		time.Sleep(poll)
		if _, err := os.Stat(socket); err != nil {
			return fmt.Errorf("the socket is gone: %w", err)
		}
	}
}

func register(directory, endpoint, resource string) error {
	kubelet := "unix://" + filepath.Join(directory, "kubelet.sock")
	connection, err := grpc.NewClient(kubelet, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		return err
	}
	defer func() { _ = connection.Close() }()
	limited, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	_, err = api.NewRegistrationClient(connection).Register(limited,
		&api.RegisterRequest{Version: api.Version, Endpoint: endpoint, ResourceName: resource})
	return err
}

func main() {
	count := flag.Int("n", 8, "number of devices")
	resource := flag.String("resource", "nvidia.com/gpu", "name of the extended resource")
	directory := flag.String("dir", api.DevicePluginPath, "the kubelet's folder for device plugins")
	dead := flag.String("dead", "", "file with the devices that are broken")
	flag.Parse()
	for {
		log.Print(serve(plugin{count: *count, dead: *dead}, *directory, *resource))
		time.Sleep(poll)
	}
}
