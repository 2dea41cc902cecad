# A129 denied|runtime_error: looks up a name, as a way to tell one
import socket

socket.getaddrinfo("secret.example.org", 80)
