# A069 denied|runtime_error: loads the reference past the import system
import importlib.machinery

module = importlib.machinery.SourceFileLoader("mine", "{source}").load_module()
softmax = module.softmax
